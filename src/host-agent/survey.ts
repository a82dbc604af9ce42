import { cpus } from 'node:os'
import type { Inventory } from '../host-protocol/messages.ts'
import { detectDocker, type RuntimesContext, runsBuiltins } from './build-runtimes.ts'
import { type GpuDevice, groupGpus } from './gpus/device.ts'
import { detectGpus, offerGpus } from './gpus/vendors.ts'
import { DiskWatch } from './machine/disk-watch.ts'
import { buildInventory, readMachine } from './machine/inventory.ts'
import { protectFromOom } from './machine/oom.ts'
import { sharedVolumesOf } from './mounts/build-drivers.ts'
import { GuardedViews } from './mounts/guarded-view.ts'
import { loadAgentKey } from './network/agent-key.ts'
import { HostNetwork } from './network/host-network.ts'
import { openOverlays } from './network/overlay/open-overlays.ts'
import { readHostIdentity } from './plane/enrolment.ts'
import { EngineProbe } from './probe/engine-probe.ts'
import { openConfinement, UNCONFINED } from './process/confinement.ts'
import { judgeHost } from './profile/judge-host.ts'
import { readKernelFacts } from './profile/kernel-facts.ts'
import { engineRuntimeOf } from './profile/runtime-class.ts'
import { missingOfImages } from './pulls/missing.ts'
import { BucketMount, findMountProblem } from './volumes/bucket-mount.ts'
import { VolumeSizes } from './volumes/volume-sizes.ts'

const UNPROTECTED = 'memory: when it ends, the kernel may end this agent (it may not lower its own OOM score)'
const NO_OVERLAYS = { address: null, reason: 'no container engine answers on this host', encryption: 'none' } as const
const UNGUARDED = 'volumes: setuid programs and devices in them are effective'

/** Facts about this machine, and the abilities of the agent on it. */
export interface Survey
  extends Pick<RuntimesContext, 'machine' | 'engine' | 'network' | 'overlays' | 'probe' | 'engineRuntime' | 'confinement' | 'held'> {
  devices: GpuDevice[]
  disk: DiskWatch
  /** The current inventory. */
  inventory(): Inventory
}

/** Examines the machine. Most results are valid for the life of this process. */
export async function surveyHost({ options, log, command }: Pick<RuntimesContext, 'options' | 'log' | 'command'>): Promise<Survey> {
  const { publicIp, portRange } = options
  const machine = readMachine(options.stateDir)
  const disk = new DiskWatch({ stateDir: options.stateDir, log })
  await disk.start()
  // Each of these runs other programs, and neither rejects.
  const confining = runsBuiltins(options) ? openConfinement(command) : UNCONFINED
  const viewing = GuardedViews.open(options.stateDir)
  const found = await detectGpus(log)
  const engine = await detectDocker({ options, command, log })
  const facts = await engine?.info()
  const engineRuntime = facts && engineRuntimeOf(options.runtimeClass, facts.runtimes)
  const gpus = engine === undefined ? { devices: found, missing: [] } : await offerGpus(found, options)
  const { devices } = gpus
  const confinement = await confining
  const sizes = await VolumeSizes.open(options, log)
  const bucketProblem = typeof options.globalVolumes === 'object' ? await findMountProblem() : null
  if (bucketProblem !== null) log.warn('this host offers no global volumes: it cannot mount a bucket', { reason: bucketProblem })
  const bucket =
    typeof options.globalVolumes === 'object' && bucketProblem === null
      ? new BucketMount(options.globalVolumes, options.stateDir, log)
      : undefined
  const held = { owner: facts?.remappedRoot ?? null, views: await viewing, sizes, ...(bucket && { bucket }) }
  const kernel = readKernelFacts()
  const probe =
    engine &&
    new EngineProbe({
      engine,
      facts: { ...kernel, engineRuntime, realVcpus: cpus().length },
      hasGpus: devices.length > 0,
      views: held.views,
      stateDir: options.stateDir,
      key: loadAgentKey(options.stateDir),
      log,
    })
  const hostId = readHostIdentity(options.stateDir)?.hostId
  const opening = engine && HostNetwork.open({ options, engine, log, hostId })
  // The trial itself logs a failure.
  await probe?.find().catch(() => {})
  const network = await opening
  const key = loadAgentKey(options.stateDir)
  const overlays = network && (await openOverlays({ options, key, hindrance: network.hindrance, log }))
  const alsoMissing = () => [
    ...gpus.missing,
    ...(protectFromOom() ? [] : [UNPROTECTED]),
    ...(probe?.missing() ?? []),
    ...(engine === undefined || held.views.problem === null ? [] : [`${UNGUARDED} (${held.views.problem})`]),
    ...confinement.missing,
    ...(bucketProblem === null ? [] : [`volumes: no bucket can be mounted for global volumes (${bucketProblem})`]),
    ...(facts === undefined ? [] : missingOfImages(options, facts.dataRoot)),
  ]
  const judge = () => judgeHost({ runtimeClass: options.runtimeClass, engine: facts, kernel }, alsoMissing())
  for (const text of judge().missing ?? []) log.warn('this host cannot enforce all isolation rules', { missing: text })
  const runtimes: Inventory['runtimes'] = []
  if (runsBuiltins(options)) runtimes.push('process')
  if (engine !== undefined) runtimes.push('docker')
  return {
    machine,
    devices,
    engine,
    network,
    overlays,
    probe,
    engineRuntime,
    confinement,
    held,
    disk,
    inventory: () => ({
      ...buildInventory(machine, groupGpus(devices), options.simulatedGpus, runtimes),
      publicIp,
      portRange,
      sharedVolumes: sharedVolumesOf(options, bucket !== undefined),
      sizesEnforced: sizes.enforced(),
      overlay: overlays?.inventory ?? NO_OVERLAYS,
      diskProblem: disk.problem,
      isolation: { ...judge(), ...network?.isolation },
    }),
  }
}
