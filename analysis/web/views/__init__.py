"""The pages of ratings files, of their runs, and of what a campaign's ratings mean."""
