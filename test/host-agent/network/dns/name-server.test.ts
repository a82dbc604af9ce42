import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { decode, encode, type Packet, streamEncode } from 'dns-packet'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../../src/host-agent/log.ts'
import { openContainerNames } from '../../../../src/host-agent/network/dns/container-names.ts'
import { NameServer } from '../../../../src/host-agent/network/dns/name-server.ts'
import { type Zone, zoneOf } from '../../../../src/host-agent/network/dns/zone.ts'
import type { Overlay } from '../../../../src/host-protocol/overlays.ts'

const HERE = '127.0.0.1'
const QUESTION: Packet = { type: 'query', id: 7, questions: [{ type: 'A', name: 'node-0.podplane.internal' }] }
const overlay = (address: string): Overlay => {
  return {
    id: 'red',
    vni: 7,
    cidr: '10.64.1.0/24',
    domain: 'podplane.internal',
    members: [{ podId: 'p0', address, hostAddress: null, names: ['node-0'] }],
  }
}

let server: NameServer
let zones: readonly Zone[] | (() => never) = []
beforeEach(async () => {
  zones = [zoneOf(overlay('10.64.1.2')) as Zone]
  server = await NameServer.open({ address: HERE, zonesOf: () => (typeof zones === 'function' ? zones() : zones), log: silentLog() })
})
afterEach(() => server.close())

async function overUdp(packet: Buffer, port = server.port): Promise<Buffer> {
  const socket = createSocket('udp4')
  try {
    socket.send(packet, port, HERE)
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(5_000) })) as [Buffer]
    return answer
  } finally {
    socket.close()
  }
}

async function opened(): Promise<Socket> {
  const socket = connect(server.port, HERE)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Reads until so many bytes have arrived, or the other end closes. */
async function read(socket: Socket, bytes: number): Promise<Buffer> {
  let all = Buffer.alloc(0)
  for await (const data of socket) {
    all = Buffer.concat([all, data as Buffer])
    if (all.length >= bytes) break
  }
  return all
}

async function connected(): Promise<UdpSocket> {
  const socket = createSocket('udp4')
  socket.connect(server.port, HERE)
  await once(socket, 'connect')
  return socket
}

const addresses = (answer: Buffer) => (decode(answer).answers ?? []).map((one) => ('data' in one ? one.data : null))
const answerBytes = async () => 2 + (await overUdp(encode(QUESTION))).length

describe('[NET-70] the name server', () => {
  test('answers over UDP and TCP on one port, also questions in pieces and several at once', async () => {
    expect(addresses(await overUdp(encode(QUESTION)))).toEqual(['10.64.1.2'])
    const length = await answerBytes()
    const socket = await opened()
    const both = Buffer.concat([streamEncode(QUESTION), streamEncode({ ...QUESTION, id: 8 })])
    socket.write(both.subarray(0, 1))
    await new Promise(setImmediate)
    socket.write(both.subarray(1))
    const answers = await read(socket, 2 * length)
    expect([answers.subarray(2, length), answers.subarray(length + 2)].map((one) => [decode(one).id, addresses(one)])).toEqual([
      [7, ['10.64.1.2']],
      [8, ['10.64.1.2']],
    ])
  })

  test('follows the networks in the state of the plane, and knows no names before', async () => {
    let networks: Overlay[] | undefined
    const names = await openContainerNames({ overlays: { networksOf: () => networks }, address: HERE, log: silentLog() })
    try {
      const ask = async () => {
        const answer = await overUdp(encode(QUESTION), names?.port)
        return [(decode(answer).flags ?? 0) & 15, ...addresses(answer)]
      }
      expect(await ask()).toEqual([2])
      networks = [overlay('10.64.1.2')]
      expect(await ask()).toEqual([0, '10.64.1.2'])
      networks = [overlay('10.64.1.9')]
      expect(await ask()).toEqual([0, '10.64.1.9'])
      networks = []
      expect(await ask()).toEqual([5])
    } finally {
      names?.close()
    }
  })
})

describe('[NET-73] the name server', () => {
  test('keeps serving after messages of any kind, and after an internal fault', async () => {
    const socket = createSocket('udp4')
    for (const text of ['', 'x', 'x'.repeat(2_000), '\xff'.repeat(64)]) socket.send(Buffer.from(text, 'latin1'), server.port, HERE)
    const known = zones
    zones = () => {
      throw new Error('a fault')
    }
    socket.send(encode(QUESTION), server.port, HERE)
    const client = await opened()
    client.write(streamEncode(QUESTION))
    expect(await read(client, 1)).toHaveLength(0)
    socket.close()
    zones = known
    expect(addresses(await overUdp(encode(QUESTION)))).toEqual(['10.64.1.2'])
  })

  test('answers another client after as many questions at once as an account may send', async () => {
    const [many, other] = await Promise.all([connected(), connected()])
    // Sent at once, without a turn of the event loop: the server reads none of them before the last.
    for (let sent = 0; sent < 500; sent += 1) many.send(encode(QUESTION))
    const answered = once(other, 'message')
    other.send(encode({ ...QUESTION, id: 9 }))
    expect(decode((await answered)[0]).id).toBe(9)
    many.close()
    other.close()
  })

  test('closes connections with questions that are too long, and those above the bound of a client', async () => {
    const long = await opened()
    long.write(Buffer.from([0xff, 0xff]))
    expect(await read(long, 1)).toHaveLength(0)
    const held = await Promise.all(Array.from({ length: 8 }, opened))
    expect(await read(await opened(), 1)).toHaveLength(0)
    held[0]?.destroy()
    const length = await answerBytes()
    for (const socket of held.slice(1)) socket.write(streamEncode(QUESTION))
    expect(await Promise.all(held.slice(1).map(async (socket) => (await read(socket, length)).length))).toEqual(
      held.slice(1).map(() => length),
    )
  })
})
