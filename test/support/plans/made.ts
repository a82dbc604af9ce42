import type { SampleValue } from './normal.ts'

/** A statement that was made, and where. */
export interface Made {
  store: string
  site: string
  /** Which of the places of its function has made it; null is one that is not known. */
  place: number | null
  text: string
  values: SampleValue[]
}
