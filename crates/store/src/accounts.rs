//! Who may use a gateway, and what they have used of it.

use crate::body::check_json;
use crate::{Pending, StoreError};

/// The most bytes of the name of a key.
pub const MAX_KEY_NAME_BYTES: usize = 64;
/// The most bytes of [`KeyRecord::body`]: 64 KiB.
pub const MAX_KEY_BODY_BYTES: usize = 64 << 10;
/// The most keys of a store, revoked ones included.
pub const MAX_KEYS: usize = 10_000;
/// The most bytes of [`Spending::account`].
pub const MAX_ACCOUNT_BYTES: usize = 128;

/// A virtual key, as it is kept: never the key itself, only its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its name, which no other key of the store ever had: 1 to [`MAX_KEY_NAME_BYTES`] letters,
    /// digits, `-`, `.`, `_`.
    pub name: String,
    /// The hash of the key, in the caller's terms.
    pub hash: [u8; 32],
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// From when on it does not hold any more, in milliseconds since 1970. `None`: it does not
    /// expire.
    pub expires_ms: Option<u64>,
    /// When it was revoked, in milliseconds since 1970. `None`: it was not.
    pub revoked_ms: Option<u64>,
    /// What it allows, in the caller's terms: one JSON value in one line, of at most
    /// [`MAX_KEY_BODY_BYTES`].
    pub body: String,
}

impl KeyRecord {
    /// # Errors
    /// The name or the body is not allowed.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let fits = (1..=MAX_KEY_NAME_BYTES).contains(&self.name.len());
        if !fits || !self.name.bytes().all(letter) {
            return Err(StoreError::refused(format!(
                "the name of a key {:?}; allowed are 1 to {MAX_KEY_NAME_BYTES} letters, digits, \
                 `-`, `.`, `_`",
                self.name.chars().take(MAX_KEY_NAME_BYTES).collect::<String>()
            )));
        }
        if self.body.len() > MAX_KEY_BODY_BYTES {
            return Err(StoreError::refused(format!(
                "a key whose limits have {} bytes; at most {MAX_KEY_BODY_BYTES} are allowed",
                self.body.len()
            )));
        }
        check_json(&self.body).map_err(|why| {
            StoreError::refused(format!("a key whose limits are not one line of JSON: {why}"))
        })
    }
}

/// What an account has used within a day, or what is to be added to it. Sums stay at `i64::MAX`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// The account, in the caller's terms, of at most [`MAX_ACCOUNT_BYTES`].
    pub account: String,
    /// The day, counted from 1970 in UTC; of a sum over days, the first that was asked for.
    pub day: u64,
    /// Calls.
    pub calls: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens generated.
    pub output_tokens: u64,
    /// Money, in nano-dollars.
    pub cost_nanodollars: u64,
    /// Calls of which it is not known what they used.
    pub untold_calls: u64,
    /// Calls whose price is not known.
    pub unpriced_calls: u64,
}

impl Spending {
    /// The counts, in the order of the table's columns.
    pub(crate) fn counts(&mut self) -> [&mut u64; 6] {
        [
            &mut self.calls,
            &mut self.input_tokens,
            &mut self.output_tokens,
            &mut self.cost_nanodollars,
            &mut self.untold_calls,
            &mut self.unpriced_calls,
        ]
    }

    /// Adds what another one counts. Account and day stay.
    pub fn add(&mut self, other: &Self) {
        let mut other = other.clone();
        for (sum, more) in self.counts().into_iter().zip(other.counts()) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// # Errors
    /// The name of the account is too long.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.account.len() <= MAX_ACCOUNT_BYTES {
            return Ok(());
        }
        Err(StoreError::refused(format!(
            "an account whose name has {} bytes; at most {MAX_ACCOUNT_BYTES} are allowed",
            self.account.len()
        )))
    }
}

/// Keeps virtual keys and what was used under them, beside sessions.
///
/// What holds for changes of a [`Store`](crate::Store) holds here.
pub trait Accounts: Send + Sync + 'static {
    /// Adds a key.
    ///
    /// # Errors
    /// [`StoreError::NameTaken`], also by a revoked key; [`StoreError::Refused`] for a name or body
    /// that is not allowed, a hash that is there already, and beyond [`MAX_KEYS`].
    fn add_key(&self, key: KeyRecord) -> Pending<'_, ()>;

    /// Takes a key back, and resolves to when that was done first. It stays in the list.
    ///
    /// # Errors
    /// [`StoreError::UnknownKey`].
    fn revoke_key(&self, name: &str, at_ms: u64) -> Pending<'_, u64>;

    /// All keys, the latest first.
    ///
    /// # Errors
    /// Only those of every method.
    fn keys(&self) -> Pending<'_, Vec<KeyRecord>>;

    /// A number that is another one after every change of the keys, whichever process makes it.
    ///
    /// # Errors
    /// Only those of every method.
    fn keys_version(&self) -> Pending<'_, u64>;

    /// Adds to what accounts have used; all or nothing.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a long name.
    fn spend(&self, spendings: Vec<Spending>) -> Pending<'_, ()>;

    /// What every account has used on this day and later, one sum for each, by name.
    ///
    /// # Errors
    /// Only those of every method.
    fn spent(&self, from_day: u64) -> Pending<'_, Vec<Spending>>;
}
