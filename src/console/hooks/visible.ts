/** Something that runs while its tab is visible, such as a stream. */
interface Follower {
  start: () => void
  stop: () => void
}

/** Starts a follower, and stops it while the tab is hidden. Returns a function that ends it. */
export function followWhileVisible(follower: Follower): () => void {
  const watch = () => (document.hidden ? follower.stop() : follower.start())
  watch()
  document.addEventListener('visibilitychange', watch)
  return () => {
    document.removeEventListener('visibilitychange', watch)
    follower.stop()
  }
}
