"""What administrators see and change of the whole site: people, jobs, storage, system."""
