/** Result of one check; contains no secrets. */
export interface Check {
  id: string
  status: 'ok' | 'warn' | 'fail' | 'skip'
  evidence: string
  fix: string | null
}
