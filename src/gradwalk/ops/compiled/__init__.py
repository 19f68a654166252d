"""The table as code: opcodes, values, partials and templates."""
