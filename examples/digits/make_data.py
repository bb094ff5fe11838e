"""Writes digits.txt from scikit-learn's copy of the data set: python make_data.py > digits.txt"""

from sklearn.datasets import load_digits

print("""\
# Optical Recognition of Handwritten Digits, the test set: E. Alpaydin and C. Kaynak, 1998,
# UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed under CC BY 4.0.
# Taken from scikit-learn's load_digits and written another way: a line per image of 8 x 8 pixels,
# row by row, each from 0 to g (16), then the digit that it shows.""")
digits = load_digits()
for pixels, label in zip(digits.data, digits.target):
    print("".join("0123456789abcdefg"[int(pixel)] for pixel in pixels), label)
