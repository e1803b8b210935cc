//! What was used so far, and whether there may be more.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use steersman_store::{Accounts, Spending, StoreError};
use tokio::sync::Notify;
use tokio::time::{Duration, sleep};

use super::{Budget, Budgets, DAY_MS, Ticket, dollars};
use crate::figures::Figures;
use crate::keys::Key;
use crate::steering::Clock;

/// The account of the whole gateway; those of keys have the key's name.
const WHOLE: &str = "";
/// How long is waited after the store did not take what was used.
const PAUSE: Duration = Duration::from_secs(1);
/// How often that is tried when the gateway ends.
const LAST_TRIES: u32 = 3;

/// Counts what calls use, in memory and, a moment later, in the store.
///
/// Only this gateway's calls are counted while it runs; those of another one that uses the same
/// store are known from the next start on. At most 10,001 accounts, as there are keys.
pub struct Ledger {
    accounts: Arc<dyn Accounts>,
    clock: Clock,
    figures: Arc<Figures>,
    book: Mutex<Book>,
    wake: Notify,
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Book {
    day: u64,
    used: HashMap<String, Used>,
    /// What the store has not taken yet, by account and day.
    waiting: HashMap<(String, u64), Spending>,
}

/// What an account has used.
#[derive(Clone, Debug, Default)]
struct Used {
    today: Spending,
    in_all: Spending,
    /// Calls that were let in and not answered yet.
    under_way: u64,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}

impl Ledger {
    /// Takes up what was used before, and writes down what will be. Needs a tokio runtime.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn begin(
        accounts: Arc<dyn Accounts>,
        clock: Clock,
        figures: Arc<Figures>,
    ) -> Result<Arc<Self>, StoreError> {
        let day = clock() / DAY_MS;
        let mut book = Book { day, ..Book::default() };
        for one in accounts.spent(0).await? {
            let account = one.account.clone();
            book.used.entry(account).or_default().in_all = one;
        }
        for one in accounts.spent(day).await? {
            let account = one.account.clone();
            book.used.entry(account).or_default().today = one;
        }
        let (book, wake) = (Mutex::new(book), Notify::new());
        let writing = tokio::sync::Mutex::default();
        let ledger = Arc::new(Self { accounts, clock, figures, book, wake, writing });
        let weak = Arc::downgrade(&ledger);
        tokio::spawn(async move {
            while let Some(ledger) = weak.upgrade() {
                // Woken now and then also in vain, to see whether the ledger is still there.
                tokio::select! {
                    () = ledger.wake.notified() => {}
                    () = sleep(PAUSE) => {}
                }
                if ledger.write_down().await.is_err() {
                    sleep(PAUSE).await;
                }
            }
        });
        Ok(ledger)
    }

    /// Writes down what is not written yet. Gives whether the store has taken all of it.
    pub async fn close(&self) -> bool {
        for _ in 0..LAST_TRIES {
            if self.write_down().await.is_ok() {
                return true;
            }
            sleep(PAUSE).await;
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let day = (self.clock)() / DAY_MS;
        // A clock that is put back gives no second budget.
        if day > book.day {
            book.day = day;
            book.used.values_mut().for_each(|used| used.today = Spending::default());
        }
        book
    }

    async fn write_down(&self) -> Result<(), StoreError> {
        // Who closes waits for what is being written.
        let _alone = self.writing.lock().await;
        let waiting = std::mem::take(&mut self.lock().waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let spendings: Vec<Spending> = waiting.into_values().collect();
        let done = self.accounts.spend(spendings.clone()).await;
        if done.is_err() {
            let mut book = self.lock();
            spendings.iter().for_each(|one| book.wait(one));
        }
        done
    }

    /// Lets a call in, unless a budget of its key's or of the whole gateway's is used up.
    ///
    /// # Errors
    /// Which one, in a sentence.
    pub fn admit(
        self: &Arc<Self>,
        key: Option<&Key>,
        whole: &Budgets,
        soft_percent: u64,
    ) -> Result<Arc<Ticket>, String> {
        let mut book = self.lock();
        let minutes = (DAY_MS - (self.clock)() % DAY_MS).div_ceil(60_000);
        let granted = key.and_then(|key| key.grant.as_ref().map(|grant| (key, &grant.budgets)));
        let limited = granted
            .map(|(key, budgets)| (key.name.as_str(), format!("the key `{}`", key.name), budgets))
            .into_iter()
            .chain([(WHOLE, "this gateway".to_owned(), whole)]);
        let mut soft = None;
        for (account, who, budgets) in limited {
            let used = book.used.entry(account.to_owned()).or_default();
            for (budget, spent, span, then) in [
                (
                    &budgets.per_day,
                    &used.today,
                    "a day (UTC)",
                    format!("there is more at 00:00 UTC, in {minutes} minutes"),
                ),
                (
                    &budgets.in_all,
                    &used.in_all,
                    "in all",
                    "whoever runs the gateway can give more".to_owned(),
                ),
            ] {
                for (limit, now, shown) in counted(budget, spent, used.under_way) {
                    if now >= limit {
                        return Err(format!("{who} has used {shown} {span}; {then}"));
                    }
                    if u128::from(now) * 100 >= u128::from(limit) * u128::from(soft_percent) {
                        soft.get_or_insert(format!("{who} has used {shown} {span}"));
                    }
                }
            }
        }
        let accounts: Vec<String> =
            key.map(|key| key.name.clone()).into_iter().chain([WHOLE.to_owned()]).collect();
        for account in &accounts {
            book.used.entry(account.clone()).or_default().under_way += 1;
        }
        drop(book);
        Ok(Arc::new(Ticket::new(Arc::clone(self), accounts, soft)))
    }

    /// A call that was let in is not under way any more: it was answered, or never will be.
    pub(super) fn arrived(&self, accounts: &[String]) {
        let mut book = self.lock();
        for account in accounts {
            if let Some(used) = book.used.get_mut(account) {
                used.under_way = used.under_way.saturating_sub(1);
            }
        }
    }

    /// Adds to what accounts have used today.
    pub(super) fn charge(&self, accounts: &[String], what: &Spending) {
        let mut book = self.lock();
        let day = book.day;
        for account in accounts {
            let one = Spending { account: account.clone(), day, ..what.clone() };
            let used = book.used.entry(account.clone()).or_default();
            used.today.add(&one);
            used.in_all.add(&one);
            book.wait(&one);
            if account != WHOLE {
                self.figures.spent(account, what);
            }
        }
        drop(book);
        self.wake.notify_one();
    }
}

impl Book {
    fn wait(&mut self, one: &Spending) {
        let place = (one.account.clone(), one.day);
        let none =
            || Spending { account: one.account.clone(), day: one.day, ..Spending::default() };
        self.waiting.entry(place).or_insert_with(none).add(one);
    }
}

/// The limits of a budget, what was used of each, and both in words.
fn counted(budget: &Budget, spent: &Spending, under_way: u64) -> Vec<(u64, u64, String)> {
    let tokens = spent.input_tokens.saturating_add(spent.output_tokens);
    // A call that is under way may be one: the number of calls is never exceeded.
    let calls = spent.calls.saturating_add(under_way);
    let cost = spent.cost_nanodollars;
    let of = |limit: Option<u64>, used: u64, unit: &str| {
        limit.map(|limit| (limit, used, format!("{used} of {limit} {unit}")))
    };
    let money = budget.cost_nanodollars.map(|limit| {
        let shown = format!("{} of {}", dollars(cost), dollars(limit));
        (limit, cost, shown)
    });
    let all = [of(budget.tokens, tokens, "tokens"), money, of(budget.calls, calls, "calls")];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use steersman_store::MemoryStore;
    use steersman_wire::Tokens;

    use super::*;
    use crate::budget::Budgets;
    use crate::keys::Grant;

    /// Noon of some day.
    const NOON: u64 = 20_000 * DAY_MS + DAY_MS / 2;

    struct Stage {
        store: Arc<MemoryStore>,
        clock: Arc<AtomicU64>,
        ledger: Arc<Ledger>,
    }

    async fn ledger(store: &Arc<MemoryStore>, clock: &Arc<AtomicU64>) -> Arc<Ledger> {
        let accounts = Arc::clone(store) as Arc<dyn Accounts>;
        let told = Arc::clone(clock);
        let clock: Clock = Arc::new(move || told.load(Ordering::Relaxed));
        Ledger::begin(accounts, clock, Arc::new(Figures::default())).await.unwrap()
    }

    impl Stage {
        async fn new() -> Self {
            let store = Arc::new(MemoryStore::new());
            let clock = Arc::new(AtomicU64::new(NOON));
            let ledger = ledger(&store, &clock).await;
            Self { store, clock, ledger }
        }

        /// Lets a call in and has it use tokens; why not, or how near a limit is.
        fn call(&self, key: &Key, whole: &Budgets, used: u64) -> Result<Option<String>, String> {
            let ticket = self.ledger.admit(Some(key), whole, 90)?;
            ticket.begin();
            ticket.charge(&Tokens { input: used, ..Tokens::default() }, Some(used * 1_000_000));
            Ok(ticket.soft().map(str::to_owned))
        }
    }

    fn key(name: &str, per_day: Budget, in_all: Budget) -> Key {
        let budgets = Budgets { per_day, in_all };
        let grant = Some(Grant { budgets, ..Grant::default() });
        Key { name: name.to_owned(), expires_ms: None, revoked_ms: None, grant }
    }

    const fn tokens(tokens: u64) -> Budget {
        Budget { tokens: Some(tokens), cost_nanodollars: None, calls: None }
    }

    const NONE: Budget = Budget { tokens: None, cost_nanodollars: None, calls: None };

    #[tokio::test]
    async fn a_budget_of_a_day_is_new_at_midnight() {
        let stage = Stage::new().await;
        let (alice, none) = (key("alice", tokens(100), NONE), Budgets::default());
        assert_eq!(stage.call(&alice, &none, 89), Ok(None));
        assert_eq!(stage.call(&alice, &none, 5), Ok(None));
        let near = "the key `alice` has used 94 of 100 tokens a day (UTC)";
        assert_eq!(stage.call(&alice, &none, 5), Ok(Some(near.to_owned())));
        assert!(stage.call(&alice, &none, 30).unwrap().is_some());
        let over = "the key `alice` has used 129 of 100 tokens a day (UTC); there is more at 00:00 \
                    UTC, in 720 minutes";
        assert_eq!(stage.call(&alice, &none, 1), Err(over.to_owned()));
        // Of another key there is all.
        assert_eq!(stage.call(&key("bob", tokens(100), NONE), &none, 1), Ok(None));
        stage.clock.fetch_add(DAY_MS / 2, Ordering::Relaxed);
        assert_eq!(stage.call(&alice, &none, 1), Ok(None));
        // A clock that goes back does not give it twice.
        stage.clock.fetch_sub(DAY_MS, Ordering::Relaxed);
        assert_eq!(stage.call(&alice, &none, 99), Ok(None));
        assert!(stage.call(&alice, &none, 1).is_err());
    }

    #[tokio::test]
    async fn every_limit_holds_by_itself() {
        let stage = Stage::new().await;
        let money = |nanodollars| Budget { cost_nanodollars: Some(nanodollars), ..NONE };
        let calls = |calls| Budget { calls: Some(calls), ..NONE };
        let in_all = "in all; whoever runs the gateway can give more";
        for (name, per_day, all, expected) in [
            ("t", NONE, tokens(10), format!("the key `t` has used 10 of 10 tokens {in_all}")),
            ("m", NONE, money(10_000_000), format!("the key `m` has used $0.01 of $0.01 {in_all}")),
            ("c", NONE, calls(1), format!("the key `c` has used 1 of 1 calls {in_all}")),
        ] {
            let key = key(name, per_day, all);
            let none = Budgets::default();
            assert!(stage.call(&key, &none, 10).is_ok(), "{name}");
            assert_eq!(stage.call(&key, &none, 10), Err(expected), "{name}");
        }
        let whole = Budgets { per_day: tokens(40), in_all: NONE };
        assert!(stage.call(&key("free", NONE, NONE), &whole, 10).is_ok());
        let why = stage.call(&key("free", NONE, NONE), &whole, 10).unwrap_err();
        assert!(why.starts_with("this gateway has used 40 of 40 tokens a day (UTC)"), "{why}");
        assert_eq!(stage.ledger.admit(None, &whole, 90).unwrap_err(), why);
    }

    #[tokio::test]
    async fn calls_under_way_count_and_those_that_come_to_nothing_do_not() {
        let stage = Stage::new().await;
        let two = key("a", Budget { calls: Some(2), ..NONE }, NONE);
        let admit = || stage.ledger.admit(Some(&two), &Budgets::default(), 100);
        let (one, other) = (admit().unwrap(), admit().unwrap());
        assert!(admit().is_err());
        // The server has refused it: no call.
        other.charge(&Tokens { input: 5, ..Tokens::default() }, None);
        drop(other);
        let other = admit().unwrap();
        one.begin();
        one.begin();
        drop(one);
        assert!(admit().is_err());
        drop(other);
        let last = admit().unwrap();
        last.begin();
        assert!(admit().is_err());
        assert!(stage.ledger.close().await);
        let spent = stage.store.spent(0).await.unwrap();
        let counts: Vec<_> =
            spent.iter().map(|one| (one.account.as_str(), one.calls, one.input_tokens)).collect();
        assert_eq!(counts, [("", 2, 0), ("a", 2, 0)]);
    }

    #[tokio::test]
    async fn what_was_used_is_known_after_a_restart() {
        let stage = Stage::new().await;
        let alice = key("alice", tokens(100), tokens(150));
        let none = Budgets::default();
        stage.call(&alice, &none, 100).unwrap();
        let ticket = stage.ledger.admit(Some(&key("b", NONE, NONE)), &none, 90).unwrap();
        ticket.begin();
        ticket.charge(&Tokens::default(), None);
        assert!(stage.ledger.close().await);
        let again = Stage { ledger: ledger(&stage.store, &stage.clock).await, ..stage };
        assert!(again.call(&alice, &none, 1).is_err());
        again.clock.fetch_add(DAY_MS, Ordering::Relaxed);
        let next_day = Stage { ledger: ledger(&again.store, &again.clock).await, ..again };
        assert_eq!(next_day.call(&alice, &none, 50), Ok(None));
        let why = next_day.call(&alice, &none, 1).unwrap_err();
        assert!(why.contains("150 of 150 tokens in all"), "{why}");
        let spent = next_day.store.spent(0).await.unwrap();
        let of_b = spent.iter().find(|one| one.account == "b").unwrap();
        assert_eq!((of_b.calls, of_b.untold_calls, of_b.unpriced_calls), (1, 1, 1));
    }
}
