"""Pieces in line on a grid: what the games with k in a row share."""


def run(board, row, column, down, right, most):
    """How many equal pieces stand in line through this one, both ways along (down, right); counting stops at `most`."""
    rows, columns = board.shape
    piece = board[row, column]
    length = 1
    for way in (1, -1):
        r, c = row + way * down, column + way * right
        while length < most and 0 <= r < rows and 0 <= c < columns and board[r, c] == piece:
            length += 1
            r += way * down
            c += way * right
    return length


def longest_run(board, row, column, most):
    """The longest of the four runs through a piece, or `most`: it looks at no more than about 8 * most points."""
    length = run(board, row, column, 0, 1, most)
    length = max(length, run(board, row, column, 1, 0, most))
    length = max(length, run(board, row, column, 1, 1, most))
    return max(length, run(board, row, column, 1, -1, most))


def any_run_of(board, row, column, length):
    """Is one of the four runs through a piece exactly this long?"""
    most = length + 1
    return (
        run(board, row, column, 0, 1, most) == length
        or run(board, row, column, 1, 0, most) == length
        or run(board, row, column, 1, 1, most) == length
        or run(board, row, column, 1, -1, most) == length
    )
