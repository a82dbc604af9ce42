/** A tab follows one stream at a time (UI-43): starting another one stops it. */
let holder: { pause: () => void } | undefined

/**
 * Claims the only stream of the tab and pauses the previous holder. `pause` is called when another view claims it. Returns the release
 * function.
 */
export function claimStream(pause: () => void): () => void {
  const previous = holder
  const mine = { pause }
  holder = mine
  previous?.pause()
  return () => {
    if (holder === mine) holder = undefined
  }
}
