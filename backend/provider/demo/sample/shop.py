"""A basket and its price."""

PRICES = {"apple": 30, "pear": 45, "plum": 20}


def total(basket):
    """Give the price of a basket of fruit, in cents."""
    return sum(PRICES[fruit] * count for fruit, count in basket.items())
