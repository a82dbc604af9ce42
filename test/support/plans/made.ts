import type { SampleValue } from './normal.ts'

/** A statement that was made, and its place. */
export interface Made {
  store: string
  site: string
  /** The place of its function that made it; null for an unknown one. */
  place: number | null
  text: string
  values: SampleValue[]
}
