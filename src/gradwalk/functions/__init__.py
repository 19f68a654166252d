"""The functions of `gradwalk.math`: the operations of the table, and compositions of them."""
