"""Code generated from the table: opcodes, values, partials and templates."""
