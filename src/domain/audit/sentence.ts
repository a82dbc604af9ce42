/** An audited change as a sentence for people (AUD-22). Pure. */

const ACTORS = {
  KEY: 'An API key',
  SESSION: 'A signed-in user',
  POD: 'A pod',
  OPERATOR: 'The operator',
  HOST: 'A host',
  PLATFORM: 'The platform',
} as const

/** Phrases for actions where the verb's past tense alone would not read well; `%` stands for the resource. */
const SENTENCES: Readonly<Record<string, string>> = {
  'jobs.bulk-cancel': 'began to cancel many jobs, as %',
  'jobs.bulk-retry': 'began to queue many jobs again, as %',
  'members.change-role': 'changed the role of %',
  'members.hand-keys-on': 'handed on the keys of %',
  'members.revoke-keys': 'revoked the keys of %',
  'pods.exec': 'opened a terminal in %',
  'pods.fail': 'found that % has failed',
  'pods.host-lost': 'found the host of % lost',
  'pods.report': 'reported a new state of %',
  'pods.ssh': 'opened an SSH connection to %',
  'queues.purge': 'emptied %',
  'users.end-sessions': 'ended the sessions of %',
}

const PAST: Readonly<Record<string, string>> = { set: 'set', stop: 'stopped', lose: 'lost', cordon: 'cordoned', reset: 'reset' }
/** Upper bound of changed members that a sentence names. */
const MAX_NAMED = 5

/** An audit row, as far as its sentence needs it. */
export interface DescribedChange {
  actor: keyof typeof ACTORS
  action: string
  resource: { kind: string; id: string }
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
}

/** Returns one sentence: the actor, the action, the resource and, for an update, the changed members. */
export function changeSentence({ actor, action, resource, before, after }: DescribedChange): string {
  const thing = `${resource.kind.replaceAll('-', ' ')} ${resource.id}`
  const verb = action.slice(action.indexOf('.') + 1)
  const done = SENTENCES[action]?.replace('%', () => thing) ?? `${pastOf(verb)} ${thing}`
  return `${ACTORS[actor]} ${done}${verb === 'update' ? membersOf(before, after) : ''}`
}

function pastOf(verb: string): string {
  const [head = '', ...rest] = verb.split('-')
  const past = PAST[head] ?? (head.endsWith('e') ? `${head}d` : head.endsWith('y') ? `${head.slice(0, -1)}ied` : `${head}ed`)
  return [past, ...rest].join(' ')
}

function membersOf(before: DescribedChange['before'], after: DescribedChange['after']): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  if (names.length === 0) return ''
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `: ${names.slice(0, MAX_NAMED).join(', ')}${more}`
}
