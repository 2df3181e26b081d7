from shop import total


def test_total():
    assert total({"apple": 2, "plum": 1}) == 80
