/** Ids become names of directories; the plane makes them, but a host validates its input. */
export const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/

/** Result of wiping a volume. */
export type WipeOutcome = 'gone' | 'later'

/** The location of the volumes of a kind, for listing, measuring and wiping. */
export interface VolumeHome {
  readonly kind: 'network' | 'global'
  /** Returns the ids of the existing volumes; undefined when the location does not answer. */
  list(): Promise<string[] | undefined>
  /** Removes a volume with all of its contents. */
  wipe(id: string): Promise<WipeOutcome>
  /** Returns the use of a volume; undefined when it cannot be measured. */
  measure(id: string): Promise<{ bytes: number; enforced: boolean } | undefined>
}
