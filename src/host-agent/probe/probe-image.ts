import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { SavedImage } from '../engine/engine.ts'
import { tarOf } from '../pulls/layers/archive.ts'
import { digestOf, machinePlatform } from '../pulls/manifest.ts'

const PROGRAM = 'trial'
const BASE = 0x40_0000n
const HEADER_BYTES = 64
const SEGMENT_BYTES = 56

/** For each architecture: its number in an ELF header, and the machine code that exits with 0 or waits forever. */
const MACHINES: Readonly<Record<string, { number: number; ends: string; waits: string }>> = {
  amd64: { number: 0x3e, ends: '31ffb83c0000000f05', waits: 'b8220000000f05ebf7' },
  arm64: { number: 0xb7, ends: '000080d2a80b80d2010000d4', waits: '000080d2010080d2020080d2030080d2040080d2280980d2010000d4f9ffff17' },
}
/** Behaviour of the image's program. */
type Does = 'ends' | 'waits'

/** Whether the agent has a program for this architecture. */
export function hasProbeProgram(): boolean {
  return MACHINES[machinePlatform()] !== undefined
}

/** Creates an image without a registry: one program that exits at once or waits forever. Its layer is written into `dir`. */
export async function makeProbeImage(dir: string, tag: string, does: Does = 'ends'): Promise<SavedImage> {
  const layer = await buffer(tarOf([{ name: PROGRAM, content: probeProgram(does), isProgram: true }]))
  const path = join(dir, `${does}.tar`)
  // Written beside it and renamed: another load may be reading the existing file.
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, layer, { mode: 0o600 })
  renameSync(draft, path)
  const config = {
    architecture: machinePlatform(),
    os: 'linux',
    config: { Entrypoint: [`/${PROGRAM}`] },
    rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
  }
  return {
    config: Buffer.from(JSON.stringify(config)).toString('base64'),
    layers: [{ path, tarBytes: layer.length, diffId: digestOf(layer) }],
    tag,
  }
}

/** A 64-bit ELF file: a header, one segment that covers the whole file, and the instructions. */
function probeProgram(does: Does): Buffer {
  const { number, ...code } = MACHINES[machinePlatform()] ?? { number: 0, ends: '', waits: '' }
  const instructions = Buffer.from(code[does], 'hex')
  const start = HEADER_BYTES + SEGMENT_BYTES
  const program = Buffer.alloc(start)
  program.write('\x7fELF\x02\x01\x01', 'latin1')
  program.writeUInt16LE(2, 16)
  program.writeUInt16LE(number, 18)
  program.writeUInt32LE(1, 20)
  program.writeBigUInt64LE(BASE + BigInt(start), 24)
  program.writeBigUInt64LE(BigInt(HEADER_BYTES), 32)
  program.writeUInt16LE(HEADER_BYTES, 52)
  program.writeUInt16LE(SEGMENT_BYTES, 54)
  program.writeUInt16LE(1, 56)
  const bytes = BigInt(start + instructions.length)
  program.writeUInt32LE(1, HEADER_BYTES)
  program.writeUInt32LE(5, HEADER_BYTES + 4)
  for (const [offset, value] of [
    [16, BASE],
    [24, BASE],
    [32, bytes],
    [40, bytes],
    [48, 0x1_0000n],
  ] as const) {
    program.writeBigUInt64LE(value, HEADER_BYTES + offset)
  }
  return Buffer.concat([program, instructions])
}
