//! Nonces: 128 bits each, from a secret of the run that is never rendered.

use std::fmt;
use std::sync::Arc;

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The characters of a nonce.
pub const NONCE_LEN: usize = 26;

/// The operating system's generator gave nothing; a weaker source is never used.
#[derive(Debug, thiserror::Error)]
#[error("Operating system's random generator failed")]
pub struct SecretError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// The secret that all nonces of a run derive from.
#[derive(Clone)]
pub struct RunSecret([u8; 32]);

impl RunSecret {
    /// A fresh secret from the operating system.
    ///
    /// # Errors
    /// When the operating system's generator fails.
    pub fn from_os() -> Result<Self, SecretError> {
        Self::from_source(getrandom::fill)
    }

    /// A secret that is known.
    #[cfg(test)]
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A secret of its own for part `n` of a run: what is drawn from it never meets what is drawn from another part.
    #[must_use]
    pub fn derive(&self, n: u64) -> Self {
        let mut mac = keyed(self);
        mac.update(b"part");
        mac.update(&n.to_be_bytes());
        Self(mac.finalize().into_bytes().into())
    }

    fn from_source<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, SecretError>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let mut bytes = [0; 32];
        fill(&mut bytes).map_err(|e| SecretError(Box::new(e)))?;
        Ok(Self(bytes))
    }
}

impl fmt::Debug for RunSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunSecret(…)")
    }
}

/// 26 characters of lower-case base32.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Nonce(Arc<str>);

impl Nonce {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({})", self.0)
    }
}

/// Draws nonces; the same secret gives the same nonces in the same order.
#[derive(Debug, Clone)]
pub struct NonceSource {
    keyed: Hmac<Sha256>,
    drawn: u64,
}

impl NonceSource {
    /// A source that has drawn nothing.
    #[must_use]
    pub fn new(secret: &RunSecret) -> Self {
        Self { keyed: keyed(secret), drawn: 0 }
    }

    /// A nonce that was never drawn before. `label` says what for, so that two uses can never meet.
    pub fn draw(&mut self, label: &str) -> Nonce {
        self.drawn += 1;
        let mut mac = self.keyed.clone();
        // The counter has a fixed width and comes first, so no two inputs are the same bytes.
        mac.update(&self.drawn.to_be_bytes());
        mac.update(label.as_bytes());
        let hash = mac.finalize().into_bytes();
        Nonce(BASE32_NOPAD.encode(&hash[..16]).to_ascii_lowercase().into())
    }
}

fn keyed(secret: &RunSecret) -> Hmac<Sha256> {
    // HMAC pads a short key with zeros to the hash's block of 64 bytes; doing so here cannot fail.
    let mut key = [0; 64];
    key[..32].copy_from_slice(&secret.0);
    Hmac::new(&key.into())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn source(byte: u8) -> NonceSource {
        NonceSource::new(&RunSecret::from_bytes([byte; 32]))
    }

    fn draw_without_duplicates(count: usize) {
        let mut source = source(7);
        let mut seen = HashSet::new();
        for i in 0..count {
            let nonce = source.draw(if i % 2 == 0 { "A" } else { "B" });
            assert_eq!(nonce.as_str().len(), NONCE_LEN);
            assert!(nonce.as_str().bytes().all(|b| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b)));
            assert!(seen.insert(nonce), "drawn twice");
        }
    }

    #[test]
    fn nonces_are_long_and_never_repeat() {
        draw_without_duplicates(100_000);
    }

    #[test]
    #[ignore = "a million draws: run by hand"]
    fn a_million_nonces_never_repeat() {
        draw_without_duplicates(1_000_000);
    }

    #[test]
    fn the_same_secret_gives_the_same_nonces() {
        let (mut a, mut b, mut other) = (source(1), source(1), source(2));
        assert_eq!(a.draw("A"), b.draw("A"));
        assert_eq!(a.draw("B"), b.draw("B"));
        assert_ne!(a.draw("A"), other.draw("A"));
    }

    /// RFC 4231 test case 2 shows that a key padded by hand is the same key.
    #[test]
    fn the_padded_key_is_hmac_sha256() {
        let mut key = [0; 64];
        key[..4].copy_from_slice(b"Jefe");
        let mut mac = Hmac::<Sha256>::new(&key.into());
        mac.update(b"what do ya want for nothing?");
        let hex = data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes());
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_broken_generator_is_an_error() {
        let result = RunSecret::from_source(|_| Err(std::io::Error::other("no entropy")));
        assert_eq!(result.expect_err("must fail").to_string(), "Operating system's random generator failed");
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", RunSecret::from_bytes([65; 32])), "RunSecret(…)");
    }
}
