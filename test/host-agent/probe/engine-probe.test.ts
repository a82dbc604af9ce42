import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ContainerSpec, SavedImage } from '../../../src/host-agent/engine/engine.ts'
import { EngineClientEnded } from '../../../src/host-agent/engine/engine-errors.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { GuardedViews } from '../../../src/host-agent/mounts/guarded-view.ts'
import { EngineProbe } from '../../../src/host-agent/probe/engine-probe.ts'
import { sha256 } from '../support/fake-registry.ts'
import { tempDir } from '../support/temp-dir.ts'

type HostConfig = NonNullable<ContainerSpec['HostConfig']>

/** An engine that refuses the containers for which `refuses` returns an error. */
class PlainEngine {
  readonly containers = new Map<string, HostConfig>()
  readonly images = new Map<string, SavedImage>()
  refuses: (config: HostConfig, step: 'create' | 'start') => Error | undefined = () => undefined

  async load(image: SavedImage): Promise<void> {
    const [layer] = image.layers
    const { rootfs } = JSON.parse(Buffer.from(image.config, 'base64').toString())
    expect(rootfs.diff_ids).toEqual([sha256(readFileSync(layer?.path ?? ''))])
    this.images.set(image.tag, image)
  }
  async create(name: string, { Image = '', HostConfig = {} }: ContainerSpec): Promise<void> {
    const refusal = this.refuses(HostConfig, 'create')
    if (refusal) throw refusal
    expect([this.images.has(Image), this.containers.has(name)]).toEqual([true, false])
    this.containers.set(name, HostConfig)
  }
  async start(name: string): Promise<void> {
    const refusal = this.refuses(this.containers.get(name) ?? {}, 'start')
    if (refusal) throw refusal
  }
  async remove(name: string): Promise<void> {
    this.containers.delete(name)
  }
  async removeImage(tag: string): Promise<void> {
    this.images.delete(tag)
  }
}

function open(views = new GuardedViews('off'), stateDir = tempDir('trial')) {
  const engine = new PlainEngine()
  const facts = { engineRuntime: undefined, cgroupNamespaces: true, pidMax: 32_768, openFilesMax: 1_048_576, realVcpus: 2 }
  const probe = new EngineProbe({ engine, facts, hasGpus: false, views, stateDir, key: 'abcde', log: silentLog() })
  return { engine, trial: probe, left: () => [engine.containers.size, engine.images.size] }
}

const raises = ({ Ulimits = [] }: HostConfig) => Ulimits.length > 1

describe('[HOST-107] the features of an engine are probed with a container of the agent', () => {
  test('that leaves nothing behind', async () => {
    const { trial: probe, left } = open()
    expect([await probe.find(), probe.missing(), left()]).toEqual([{ limitsDisk: true, raisesLimits: true }, [], [0, 0]])
  })

  test('by whether it is created, whatever the message', async () => {
    const { engine, trial: probe, left } = open()
    engine.refuses = (config, step) => {
      if (config.StorageOpt !== undefined && step === 'create') return new Error('no')
      return raises(config) && step === 'start' ? new Error('no') : undefined
    }
    expect([await probe.find(), left()]).toEqual([{ limitsDisk: false, raisesLimits: false }, [0, 0]])
    expect(probe.missing().map((text) => text.split(':')[0])).toEqual(['disk', 'limits'])
  })

  test('and not by a transient error', async () => {
    const { engine, trial: probe } = open()
    let troubles = 1
    engine.refuses = (config) => (raises(config) && troubles-- > 0 ? new Error('error setting rlimit type 7') : undefined)
    expect(await probe.find()).toEqual({ limitsDisk: true, raisesLimits: true })
  })

  test('and as long as none is created, there is no result, and the next start probes again', async () => {
    const { engine, trial: probe, left } = open()
    for (const error of [new Error('no space left on device'), new EngineClientEnded()]) {
      engine.refuses = () => error
      await expect(probe.find()).rejects.toThrow(error.message)
      expect([probe.missing(), left()]).toEqual([[expect.stringContaining(error.message)], [0, 0]])
    }
    engine.refuses = () => undefined
    expect([await probe.find(), probe.missing()]).toEqual([{ limitsDisk: true, raisesLimits: true }, []])
  })

  test('[HOST-89] and with a volume of its own', async () => {
    const views = await GuardedViews.open(tempDir('views'))
    // Without the right to make views, none is passed.
    const before = views.problem
    const { engine, trial: probe } = open(views)
    engine.refuses = ({ Mounts = [] }) => (Mounts.length > 0 ? new Error('no') : undefined)
    await probe.find()
    expect(views.problem).toBe(before ?? 'the container engine does not see what the agent mounts')
  })
})
