#!/bin/sh
# Makes the toy workspace the recorded clients work in: a git repository with a small Python package and
# failing tests. Usage: toy.sh FOLDER. Same files and same commit id every time.
set -eu
mkdir -p "$1/basket" "$1/tests" "$1/tools"
cd "$1"

cat > README.md <<'EOF'
# basket

Prices, stock and receipts of a toy shop. All amounts are in cents.

Tests: `python3 -m unittest`
EOF

cat > basket/__init__.py <<'EOF'
EOF

cat > basket/price.py <<'EOF'
"""Prices of lines and orders, in cents."""

BULK_FROM = 10
BULK_PERCENT = 5
FREE_SHIPPING_FROM = 5000
SHIPPING = 490


def line_total(price, quantity):
    """Ten pieces or more are cheaper."""
    total = price * quantity
    if quantity > BULK_FROM:
        total -= total * BULK_PERCENT // 100
    return total


def order_total(lines):
    """Shipping is free from fifty upwards."""
    total = sum(line_total(price, quantity) for price, quantity in lines)
    if total > FREE_SHIPPING_FROM:
        return total
    return total + SHIPPING


def as_text(cents):
    return f"{cents // 100}.{cents % 100}"
EOF

cat > basket/stock.py <<'EOF'
"""What is on the shelf."""


class Stock:
    def __init__(self, pieces):
        self.pieces = dict(pieces)

    def take(self, name, quantity):
        left = self.pieces.get(name, 0) - quantity
        if left < 0:
            raise ValueError(f"not enough {name}")
        self.pieces[name] = left
        return left
EOF

cat > basket/report.py <<'EOF'
"""Receipts as text; run with a file of "name,cents" rows to print one."""

import sys

from basket.price import as_text


def receipt_line(name, cents):
    return name.ljust(10) + as_text(cents)


def main(path):
    with open(path) as rows:
        for row in rows:
            name, cents = row.strip().split(",")
            print(receipt_line(name, int(cents)))


if __name__ == "__main__":
    main(sys.argv[1])
EOF

cat > tests/__init__.py <<'EOF'
EOF

cat > tests/test_price.py <<'EOF'
import unittest

from basket.price import line_total, order_total


class PriceTest(unittest.TestCase):
    def test_nine_pieces_cost_the_full_price(self):
        self.assertEqual(line_total(200, 9), 1800)

    def test_ten_pieces_are_cheaper(self):
        self.assertEqual(line_total(200, 10), 1900)

    def test_shipping_is_free_from_fifty(self):
        self.assertEqual(order_total([(5000, 1)]), 5000)
EOF

cat > tests/test_stock.py <<'EOF'
import unittest

from basket.stock import Stock


class StockTest(unittest.TestCase):
    def test_taking_lowers_the_stock(self):
        self.assertEqual(Stock({"tea": 3}).take("tea", 2), 1)
EOF

cat > tests/test_report.py <<'EOF'
import unittest

from basket.report import receipt_line


class ReportTest(unittest.TestCase):
    def test_amounts_have_two_decimals(self):
        self.assertEqual(receipt_line("tea", 305), "tea       3.05")
EOF

cat > tools/build.sh <<'EOF'
#!/bin/sh
# Ten steps. Each goes on once somebody has looked at the status, so a recording does not depend on timing.
# Without a look for 30 seconds the build gives up.
mkdir -p build
: > build/looks
step=1
while [ $step -le 10 ]; do
  echo "step $step of 10" > build/status
  waits=0
  while [ "$(wc -l < build/looks)" -lt $step ]; do
    waits=$((waits + 1))
    [ $waits -le 600 ] || exit 1
    sleep 0.05
  done
  step=$((step + 1))
done
echo "finished: 10 of 10 steps" > build/status
EOF

cat > tools/status.sh <<'EOF'
#!/bin/sh
cat build/status
echo look >> build/looks
sleep 0.3
EOF

cat > .gitignore <<'EOF'
__pycache__/
build/
EOF

export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.com GIT_AUTHOR_DATE='2026-01-05T09:00:00Z'
export GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@example.com GIT_COMMITTER_DATE='2026-01-05T09:00:00Z'
git init -q -b main .
git add -A
git commit -q -m 'Start the basket package'
