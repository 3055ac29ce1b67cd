"""Amounts as text for people: hours, minutes, dollars.

A small amount is not printed as 0, which would say that there is none.
"""

ONE_CENT = 0.01
LESS_THAN = "less than"


def amount_text(value: float, digits: int, mark: str = "") -> str:
    """Return an amount with thousands separators and a number of decimals.

    Args:
        value: the amount.
        digits: the number of decimals.
        mark: what precedes the number, such as a currency.

    Returns:
        Such as "1,234.5"; "less than 0.1" for an amount above 0 that would be printed as 0.
    """
    if value > 0 and round(value, digits) == 0:
        return f"{LESS_THAN} {mark}{10.0**-digits:.{digits}f}"
    return f"{mark}{value:,.{digits}f}"


def dollars_text(value: float, mark: str = "") -> str:
    """Return US dollars, with four decimals below a cent."""
    return amount_text(value, digits_of_dollars(value), mark)


def digits_of_dollars(value: float) -> int:
    """Return the number of decimals of an amount of US dollars."""
    return 4 if 0 < value < ONE_CENT else 2
