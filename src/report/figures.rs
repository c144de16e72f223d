//! Numbers as people read them: times, sizes, tokens, money.

use crate::event::Usage;

/// `850 ms`, `3.2 s`, `2 min 5 s`.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// `512 bytes`, `12.3 KB`, `4.0 MB`.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{}.{} KB", bytes / 1000, bytes % 1000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// `1 iteration`, `2 iterations`.
pub(super) fn count(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// `12,345`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1,200 tokens in (1,000 from cache), 80 out`.
pub(super) fn tokens(usage: Usage) -> String {
    let mut cache = Vec::new();
    if usage.cache_read > 0 {
        cache.push(format!("{} from cache", grouped(usage.cache_read)));
    }
    if usage.cache_write > 0 {
        cache.push(format!("{} to cache", grouped(usage.cache_write)));
    }
    let cache = if cache.is_empty() { String::new() } else { format!(" ({})", cache.join(", ")) };
    format!("{} tokens in{cache}, {} out", grouped(usage.input), grouped(usage.output))
}

/// `$0.0123`; small amounts keep two digits that are not zero.
pub(super) fn money(usd: f64) -> String {
    if usd == 0.0 {
        "$0".to_owned()
    } else if usd < 0.01 {
        format!("${usd:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("${usd:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([time(0), time(999), time(1234), time(125_900)], ["0 ms", "999 ms", "1.2 s", "2 min 5 s"]);
        assert_eq!([size(1), size(999), size(12_345), size(4_000_000)], ["1 byte", "999 bytes", "12.3 KB", "4.0 MB"]);
        assert_eq!([grouped(7), grouped(123), grouped(1_234_567)], ["7", "123", "1,234,567"]);
        assert_eq!([money(0.0), money(0.000_12), money(1.5)], ["$0", "$0.00012", "$1.5000"]);
        let usage = Usage { input: 1200, output: 80, cache_read: 1000, cache_write: 0 };
        assert_eq!(tokens(usage), "1,200 tokens in (1,000 from cache), 80 out");
    }
}
