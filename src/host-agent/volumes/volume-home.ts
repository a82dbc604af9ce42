/** What became of a volume that was to be wiped. */
export type WipeOutcome = 'gone' | 'later'

/** Where the volumes of a kind are, as the one who keeps it clean sees it. */
export interface VolumeHome {
  readonly kind: 'network' | 'global'
  /** Ids of the volumes that are there; undefined when it does not answer. */
  list(): Promise<string[] | undefined>
  /** Removes a volume with all that is in it. */
  wipe(id: string): Promise<WipeOutcome>
  /** What is in one of them; undefined when that cannot be told. */
  measure(id: string): Promise<{ bytes: number; enforced: boolean } | undefined>
}
