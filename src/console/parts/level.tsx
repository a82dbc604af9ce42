import type { Level as CatalogLevel } from '../../contract/catalog/catalog.ts'

/** Ranges for the levels of CAT-1. */
const LABELS: Record<CatalogLevel, string> = { NONE: 'None', LOW: '1 to 3', MEDIUM: '4 to 15', HIGH: '16 or more' }
const REQUESTS: Record<CatalogLevel, string> = { NONE: 'text-soft', LOW: 'text-warn', MEDIUM: 'text-good', HIGH: 'text-good' }

/** Number of further instances that fit, as a range. */
export function Level({ level }: { level: CatalogLevel }) {
  return <span className={`whitespace-nowrap ${REQUESTS[level]}`}>{LABELS[level]}</span>
}
