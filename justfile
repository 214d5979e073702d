# What developers run. `just check` is what CI runs.

default: check

# Formatting, lints, all tests
check: fmt-check lint test

fmt-check:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

# Other cases of the property tests than CI tries, and more of them
soak CASES="2000":
    PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES={{CASES}} cargo test --workspace --lib

fmt:
    cargo fmt --all

# Ratios and growth, not absolute times
bench:
    cargo bench

# The screen with a scripted model
demo:
    cargo run --release -- --demo

# Every component in every state
gallery *ARGS:
    cargo run -p backstitch-components --example gallery -- {{ARGS}}

# The small binary that users download
dist:
    cargo build --profile dist
