import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a second call under the number of an open one takes its place',
    file: 'durable-objects/endpoint/channel/channels.ts',
    find: 'if (frame && calls.isValid(frame))',
    replace: 'if (frame)',
  },
  {
    id: 'frames are applied after the channel was closed',
    file: 'durable-objects/endpoint/channel/channels.ts',
    find: '    if (socket.readyState !== WebSocket.READY_STATE_OPEN) return\n',
    replace: '',
  },
  {
    id: 'a call that the object has forgotten cannot be left',
    file: 'durable-objects/endpoint/channel/calls.ts',
    find: "    if (!call) this.send({ type: 'nothing', n })\n",
    replace: '',
  },
]
