"""What a paper says of an evaluation, in sentences: methods and results, a data statement, the HEDS datasheet. Pure."""
