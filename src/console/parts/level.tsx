import type { Level as CatalogLevel } from '../../contract/catalog/catalog.ts'

/** The words stand for the numbers of CAT-1. */
const WORDS: Record<CatalogLevel, string> = { NONE: 'None', LOW: '1 to 3', MEDIUM: '4 to 15', HIGH: '16 or more' }
const LOOKS: Record<CatalogLevel, string> = { NONE: 'text-soft', LOW: 'text-warn', MEDIUM: 'text-good', HIGH: 'text-good' }

/** How many more of something fit now. */
export function Level({ level }: { level: CatalogLevel }) {
  return <span className={`whitespace-nowrap ${LOOKS[level]}`}>{WORDS[level]}</span>
}
