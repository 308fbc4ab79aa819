# Recomputes the chain of hashes in a statement's CSV:
#   python3 chain.py usr_… 2026-10 statement.csv
import hashlib, sys
user, month, path = sys.argv[1:]
chain = hashlib.sha256(f"beacon rewards\n{user}\n{month}\n".encode()).hexdigest()
for number, line in enumerate(open(path).read().splitlines()[1:], 1):
    row, _, written = line.rpartition(",")
    chain = hashlib.sha256(f"{chain}\n{row}\n".encode()).hexdigest()
    if chain != written:
        sys.exit(f"row {number} does not hold: {line}")
print(chain)
