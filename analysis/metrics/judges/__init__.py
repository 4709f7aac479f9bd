"""Language models that judge outputs as workers do: what they are asked, how answers are read, what calls cost."""
