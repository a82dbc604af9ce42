/** What was looked at, and how it is. Nothing of it is secret. */
export interface Check {
  id: string
  status: 'ok' | 'warn' | 'fail' | 'skip'
  evidence: string
  fix: string | null
}
