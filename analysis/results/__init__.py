"""What a report says: its sections as pages, text, tables, figures and packages."""
