import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentService } from '../support/agent.ts'
import { RuntimeClock } from '../support/clock.ts'
import { Disk, fillDisk, removeFill } from '../support/disk.ts'
import { type Lab, type SeenProcess, signalPid, within } from '../support/lab.ts'
import { freePort, launchPlane, must, type Plane, type PlaneOptions, readyPlane, startPlane } from '../support/plane.ts'
import { HostileProxy, type Trouble } from '../support/proxy.ts'
import type { Blow } from './draw.ts'

const DISK_MB = 512
const PING_MS = '2000'
const HOST_NAME = 'chaos'
const PAUSE_MS = [3_000, 15_000] as const
const TROUBLE_MS = [5_000, 10_000] as const
const FULL_MS = 8_000
/** A launcher that was struck ends within this time. */
const ENDING_MS = 2_000
const KILLED_LIMIT_MS = 10_000
const TROUBLES: readonly Trouble[] = ['delay', 'fragments', 'cut', 'half-close', 'duplicate', 'black hole']
/** Steps of the wall clock, seconds. Longer ones would end the retention of results, which then could not be counted. */
const STEPS = [-90, -10, -2, 2, 10, 30]

interface Parts {
  lab: Lab
  disk: Disk
  hostDisk: Disk
  clock: RuntimeClock
  proxy: HostileProxy
  options: PlaneOptions
  plane: Plane
  service: AgentService
}

/** A plane and a host, each on a disk of its own, with a hostile network between them. */
export class Site {
  plane: Plane
  readonly hostName = HOST_NAME
  private readonly parts: Parts
  private offsetSeconds = 0

  private constructor(parts: Parts) {
    this.parts = parts
    this.plane = parts.plane
  }

  static async start(lab: Lab): Promise<Site> {
    const [disk, hostDisk] = [new Disk(lab, 'plane', DISK_MB), new Disk(lab, 'host', DISK_MB)]
    const clock = new RuntimeClock(lab, 'clock')
    const port = await freePort()
    const env = { ...clock.env, WORKER_PING_INTERVAL_MS: PING_MS }
    const options = { dataDir: join(disk.mountPoint, 'data'), port, args: ['--no-agent'], env }
    const plane = await startPlane(lab, options)
    const proxy = await HostileProxy.open(lab, port)
    const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name: HOST_NAME })
    const agent = { name: HOST_NAME, stateDir: join(hostDisk.mountPoint, 'agent'), token: String(token) }
    const service = new AgentService(lab, proxy.url, agent)
    return new Site({ lab, disk, hostDisk, clock, proxy, options, plane, service })
  }

  /** Causes a fault. Returns when it is over; a killed launcher must then be started again (`restartPlane`). */
  async strike(blow: Blow): Promise<void> {
    const { lab, disk, hostDisk } = this.parts
    switch (blow) {
      case 'kill plane':
        return signalPid(this.plane.program.pid, 'SIGKILL')
      case 'kill runtime':
        return kill(pick(lab.runtimes()))
      case 'kill agent':
        return kill(pick(lab.agents()))
      case 'kill worker':
        return kill(pick(lab.workers()))
      case 'kill all':
        return await lab.killAll()
      case 'pause':
        return await pause(pick([...lab.runtimes(), ...lab.agents(), ...lab.workers()]))
      case 'network':
        return await this.disturb()
      case 'fill disk of plane':
        return await fill(disk)
      case 'fill disk of host':
        return await fill(hostDisk)
      case 'step clock':
        return this.stepClock()
      case 'cut power of plane':
        return await this.cutPower(disk, () => [...lab.runtimes(), ...lab.launchers()])
      case 'cut power of host':
        return await this.cutPower(hostDisk, () => [...lab.agents(), ...lab.workers()])
    }
  }

  /** Starts the plane again if its launcher has ended; whether it is ready. */
  async restartPlane(): Promise<boolean> {
    const { lab, options } = this.parts
    if (!(await within(ENDING_MS, () => !this.plane.program.isRunning()))) return true
    const next = await readyPlane(launchPlane(lab, options), options)
    if (next === undefined) return false
    this.plane = next
    return true
  }

  private async disturb(): Promise<void> {
    const { lab, proxy } = this.parts
    const trouble = pick(TROUBLES)[0] ?? 'cut'
    lab.say(`network: ${trouble}`)
    proxy.set(trouble)
    await sleep(randomInt(...TROUBLE_MS))
    proxy.set('none')
  }

  private stepClock(): void {
    const step = pick(STEPS)[0] ?? 0
    this.parts.lab.say(`clock: ${step} s`)
    this.offsetSeconds += step
    this.parts.clock.set(this.offsetSeconds)
  }

  private async cutPower(disk: Disk, users: () => SeenProcess[]): Promise<void> {
    const { service } = this.parts
    service.isHeld = true
    try {
      for (const { pid } of users()) signalPid(pid, 'SIGSTOP')
      await disk.cutPower(async () => {
        await within(KILLED_LIMIT_MS, () => {
          const left = users()
          kill(left)
          return left.length === 0
        })
      })
    } finally {
      service.isHeld = false
    }
  }
}

async function fill(disk: Disk): Promise<void> {
  const path = join(disk.mountPoint, 'fill')
  fillDisk(disk, path)
  await sleep(FULL_MS)
  removeFill(path)
}

async function pause(struck: readonly SeenProcess[]): Promise<void> {
  for (const { pid } of struck) signalPid(pid, 'SIGSTOP')
  await sleep(randomInt(...PAUSE_MS))
  for (const { pid } of struck) signalPid(pid, 'SIGCONT')
}

function kill(found: readonly SeenProcess[]): void {
  for (const { pid } of found) signalPid(pid, 'SIGKILL')
}

/** One of these at random; empty if there is none. */
function pick<T>(found: readonly T[]): T[] {
  return found.length === 0 ? [] : found.slice(randomInt(found.length)).slice(0, 1)
}
