//! A crossbeam channel with a waker: the only bridge between threads that block and tasks that must not.
//!
//! Sending never blocks and never fails; what is sent after the receiver is gone is dropped.

use crossbeam_channel::{Receiver, Sender, unbounded};
use futures::task::AtomicWaker;
use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

pub fn mailbox<T>() -> (Mailbox<T>, Inbox<T>) {
    let (tx, rx) = unbounded();
    let waker = Arc::new(AtomicWaker::new());
    (Mailbox { tx: Some(tx), waker: waker.clone() }, Inbox { rx, waker })
}

pub struct Mailbox<T> {
    /// Taken only by `drop`.
    tx: Option<Sender<T>>,
    waker: Arc<AtomicWaker>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Mailbox { tx: self.tx.clone(), waker: self.waker.clone() }
    }
}

impl<T> Mailbox<T> {
    pub fn send(&self, item: T) {
        // A closed receiver means that its owner is gone, and with it whoever would have cared.
        let _ = self.tx.as_ref().map(|tx| tx.send(item));
        self.waker.wake();
    }
}

impl<T> Drop for Mailbox<T> {
    fn drop(&mut self) {
        // The last sender's end is an event too: the receiver must wake up after it to see that the channel is closed.
        self.tx = None;
        self.waker.wake();
    }
}

pub struct Inbox<T> {
    rx: Receiver<T>,
    waker: Arc<AtomicWaker>,
}

/// Tells whether something waits in an inbox, without being able to take it.
pub struct Probe<T> {
    rx: Receiver<T>,
    waker: Arc<AtomicWaker>,
}

impl<T> Probe<T> {
    /// For a task that only wants to be woken when something waits, or when nothing will come any more.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.waker.register(cx.waker());
        if self.rx.is_empty() && !closed(&self.rx) { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// Nothing waits and nothing will come. An item that arrives during the look is left alone.
fn closed<T>(rx: &Receiver<T>) -> bool {
    // A select only finds out; it takes nothing until it is asked to.
    let mut select = crossbeam_channel::Select::new();
    select.recv(rx);
    select.try_ready().is_ok() && rx.is_empty()
}

impl<T> Inbox<T> {
    pub fn probe(&self) -> Probe<T> {
        Probe { rx: self.rx.clone(), waker: self.waker.clone() }
    }

    /// Every sender is gone and all that they sent was taken.
    pub fn is_closed(&self) -> bool {
        closed(&self.rx)
    }

    pub fn is_empty(&self) -> bool {
        self.rx.is_empty()
    }

    pub fn try_next(&self) -> Option<T> {
        self.rx.try_recv().ok()
    }

    /// Everything that waits now, at the most `limit` items: a fast sender can't keep the receiver here for ever.
    pub fn drain(&self, limit: usize) -> impl Iterator<Item = T> + '_ {
        self.rx.try_iter().take(limit)
    }

    /// The same, but no more once `room` is filled by what each item weighs.
    pub fn drain_weighing<'a>(&'a self, limit: usize, mut room: usize, weight: impl Fn(&T) -> usize + 'a) -> impl Iterator<Item = T> + 'a {
        let mut waiting = self.drain(limit);
        std::iter::from_fn(move || {
            let item = (room > 0).then(|| waiting.next()).flatten()?;
            room = room.saturating_sub(weight(&item));
            Some(item)
        })
    }

    /// For a task: `Ready(None)` once every sender is gone and nothing waits.
    pub fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        use crossbeam_channel::TryRecvError::{Disconnected, Empty};
        // Registered before the look, so that an item sent in between wakes us.
        self.waker.register(cx.waker());
        match self.rx.try_recv() {
            Ok(item) => Poll::Ready(Some(item)),
            Err(Empty) => Poll::Pending,
            Err(Disconnected) => Poll::Ready(None),
        }
    }

    pub async fn next(&self) -> Option<T> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// For a thread. `None` once every sender is gone.
    pub fn wait(&self) -> Option<T> {
        self.rx.recv().ok()
    }

    /// For a thread: `None` after `timeout` or once every sender is gone.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<T> {
        self.rx.recv_timeout(timeout).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeping_task_is_woken_by_another_thread_and_by_the_last_sender_going() {
        let (outbox, inbox) = mailbox::<u32>();
        let sender = std::thread::spawn(move || {
            for n in 0..1000 {
                outbox.send(n);
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let got = runtime.block_on(async {
            let mut got = vec![];
            while let Some(n) = inbox.next().await {
                got.push(n);
            }
            got
        });
        sender.join().unwrap();
        assert_eq!(got, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn drain_is_bounded() {
        let (outbox, inbox) = mailbox::<u32>();
        (0..10).for_each(|n| outbox.send(n));
        assert_eq!(inbox.drain(4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // What is left is not lost: it comes the next time.
        assert_eq!(inbox.drain_weighing(9, 10, |n| *n as usize).collect::<Vec<_>>(), [4, 5, 6]);
        assert!(!inbox.is_empty());
    }
}
