"""Orders to pay, to decide and to change what is published: ordered by researchers, sent by a job."""
