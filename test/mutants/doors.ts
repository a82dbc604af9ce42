import type { Mutant } from './table.ts'

// Bugs of the ways into pods: terminals, SSH and HTTP ports.

const SSH = 'src/services/pods/doors/ssh.ts'
const HTTP = 'src/services/pods/doors/http-door.ts'
const SESSION = 'src/host-agent/tunnel/channel-session.ts'
const LIMITS = 'src/ssh-proxy/limits.ts'

/** Killed by the tests of the plane's part. */
export const DOOR_WORKER_MUTANTS: readonly Mutant[] = [
  { id: 'any key of SSH gets in', file: SSH, find: '!hasSuffix || !hasKey', replace: '!hasSuffix' },
  { id: 'any suffix gets in', file: SSH, find: '!hasSuffix || !hasKey', replace: '!hasKey' },
  { id: 'SSH leads into pods without startSsh', file: SSH, find: 'door.startSsh && ', replace: '' },
  { id: 'a key that was only offered is in the audit log', file: SSH, find: '  if (!admit.connect) return\n', replace: '' },
  { id: 'a port that nobody declared is served', file: HTTP, find: '!door.ports.includes(', replace: 'door.ports.includes(' },
  {
    id: 'a pod sees what is meant for the plane',
    file: 'src/http/pod-doors/pod-door.ts',
    find: 'passesAuthorization: prefix === null',
    replace: 'passesAuthorization: true',
  },
  {
    id: 'an old agent is asked for what it does not know',
    file: 'durable-objects/host-tunnel.ts',
    find: '!this.connection.serves(needs)',
    replace: 'false',
  },
  {
    id: 'a client that reads nothing is told without end',
    file: 'durable-objects/tunnel/carry-socket.ts',
    find: 'if (gone !== null) close(gone',
    replace: 'if (gone === undefined) close(this.socket',
  },
  {
    id: 'many pods of one account are told without end',
    file: 'src/domain/door/unheard.ts',
    find: 'const over = this.whatIsOver(told)',
    replace: 'const over = null as keyof Listener | null',
  },
  {
    id: 'a word of a client does not count',
    file: 'durable-objects/tunnel/carry-socket.ts',
    find: '    ear.hear()\n',
    replace: '',
  },
  {
    id: 'a terminal stays open when its key is revoked',
    file: 'src/http/watched/socket-while.ts',
    find: 'good || end(POLICY, why)',
    replace: 'good',
  },
]

/** Killed by the tests of the agent's and the proxy's part, which start no machine. */
export const DOOR_AGENT_MUTANTS: readonly Mutant[] = [
  { id: 'nobody waits for credit', file: SESSION, find: 'while (this.flow && this.sendable === 0)', replace: 'while (false)' },
  {
    id: 'a command goes on when its client has left',
    file: SESSION,
    find: '  void stream.over.then(() => session.end())\n',
    replace: '',
  },
  {
    id: 'the end of input overtakes it',
    file: SESSION,
    find: 'void this.afterInput(async () => session.endInput())',
    replace: 'session.endInput()',
  },
  {
    id: 'a container has any number of commands',
    file: 'src/host-agent/docker/streams/exec.ts',
    find: 'if (open >= MAX_SESSIONS)',
    replace: 'if (open >= MAX_SESSIONS + 9)',
  },
  { id: 'a burst never comes back', file: 'src/host-agent/tunnel/pace.ts', find: '    this.at = nowMs\n', replace: '' },
  {
    id: 'any port of any host is forwarded',
    file: 'src/ssh-proxy/session.ts',
    find: '!isPod(destIP, visitor.login.user) || ',
    replace: '',
  },
  {
    id: 'an offered key is a proven one',
    file: 'src/ssh-proxy/login.ts',
    find: 'const isProven = login !== null && context.signature !== undefined && isSigned(context, login.key)',
    replace: 'const isProven = login !== null',
  },
  {
    id: 'strangers are not counted',
    file: LIMITS,
    find: 'own.strangers >= Math.min(strangersPerAddress, shareOf(strangers, this.all.strangers - own.strangers))',
    replace: 'false',
  },
  { id: 'who has failed comes again', file: LIMITS, find: 'failed.count >= this.limits.failuresPerMinute', replace: 'false' },
]
