/** A tab follows one stream at a time (C-5): who begins another stops the one before. */
let holder: { pause: () => void } | undefined

/** Takes the tab's stream; `pause` is called when somebody else takes it. Answers how to give it back. */
export function claimStream(pause: () => void): () => void {
  const former = holder
  const mine = { pause }
  holder = mine
  former?.pause()
  return () => {
    if (holder === mine) holder = undefined
  }
}
