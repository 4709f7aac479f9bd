"""What a plug-in fulfils: base classes and value objects."""
