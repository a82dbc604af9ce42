import { describe, test } from 'vitest'
import { type EngineAnswers, readEngineFacts } from '../../../src/host-agent/engine/engine-facts.ts'
import { judgeHost } from '../../../src/host-agent/profile/judge-host.ts'
import { engineRuntimeOf } from '../../../src/host-agent/profile/runtime-class.ts'
import { judgeVersion } from '../../../src/host-agent/profile/versions.ts'
import { Isolation } from '../../../src/host-protocol/messages.ts'

const REMAPPED: EngineAnswers = {
  info: {
    LiveRestoreEnabled: true,
    Runtimes: { runc: {}, runsc: {} },
    SecurityOptions: ['name=seccomp,profile=builtin', 'name=userns', 'name=cgroupns'],
    DockerRootDir: '/var/lib/docker/100000.100001',
  },
  version: {
    Version: '28.2.2',
    Components: [
      { Name: 'Engine', Version: '28.2.2' },
      { Name: 'runc', Version: '1.3.4' },
    ],
  },
}
const PLAIN: EngineAnswers = {
  info: { Runtimes: { runc: {} }, SecurityOptions: ['name=seccomp,profile=default'], DockerRootDir: '/data/1.2' },
  version: { Version: '20.10.24+dfsg1', Components: [{ Name: 'runc', Version: '1.1.5+ds1' }] },
}
const kernel = { cgroupNamespaces: true, pidMax: 32_768, openFilesMax: 1_048_576, inotifyMax: 65_536 }

describe('the description of an engine', () => {
  test('[HOST-87] with remapped users, and without', ({ expect }) => {
    expect(readEngineFacts(REMAPPED)).toEqual({
      liveRestore: true,
      dataRoot: '/var/lib/docker/100000.100001',
      versions: { engine: '28.2.2', runc: '1.3.4' },
      runtimes: ['runc', 'runsc'],
      seccomp: true,
      remappedRoot: { uid: 100_000, gid: 100_001 },
    })
    // Only its path looks like that.
    expect(readEngineFacts(PLAIN).remappedRoot).toBeNull()
    expect(readEngineFacts({ info: {}, version: {} })).toEqual({
      liveRestore: false,
      dataRoot: '',
      versions: { engine: null, runc: null },
      runtimes: [],
      seccomp: false,
      remappedRoot: null,
    })
    expect(readEngineFacts({ ...PLAIN, info: { SecurityOptions: ['name=seccomp,profile=unconfined'] } }).seccomp).toBe(false)
  })
})

describe('the isolation that a host cannot enforce', () => {
  test('[HOST-87][H9] is reported to the operator', ({ expect }) => {
    const judged = judgeHost(
      { runtimeClass: 'runc', engine: readEngineFacts(PLAIN), kernel: { ...kernel, cgroupNamespaces: false, inotifyMax: 128 } },
      ['more'],
    )
    expect(Isolation.parse(judged)).toEqual({
      runtimeClass: 'runc',
      userNamespaces: false,
      missing: [
        'user namespaces: the container engine runs without "userns-remap"',
        'control groups: this kernel has no namespaces for them',
        'inotify: all containers and root share 128 instances; raise fs.inotify.max_user_instances',
        'runc: 1.1.5+ds1 is older than 1.1.12',
        'more',
      ],
    })
    expect(judgeHost({ runtimeClass: 'runc', engine: readEngineFacts(REMAPPED), kernel }, [])).toEqual({
      runtimeClass: 'runc',
      userNamespaces: true,
      missing: [],
    })
  })

  test('[HOST-87] is less where a kernel stands in between, and nothing where there are no containers', ({ expect }) => {
    const engine = { ...readEngineFacts(PLAIN), seccomp: false }
    expect(judgeHost({ runtimeClass: 'kata', engine, kernel }, []).missing).toEqual([])
    expect(judgeHost({ runtimeClass: 'runc', engine: undefined, kernel }, [])).toEqual({
      runtimeClass: 'runc',
      userNamespaces: false,
      missing: [],
    })
  })
})

test('[HOST-87] a class that the engine has no runtime for stops the agent', ({ expect }) => {
  expect(engineRuntimeOf('runc', [])).toBeUndefined()
  expect(engineRuntimeOf('runsc', ['runc', 'runsc'])).toBe('runsc')
  expect(engineRuntimeOf('kata', ['io.containerd.kata.v2', 'kata-runtime'])).toBe('kata-runtime')
  expect(() => engineRuntimeOf('kata', ['runc', 'runsc'])).toThrow(/^--runtime-class kata: the container engine has no runtime kata, /)
})

test.for([
  ['runc', '1.1.12', null],
  ['runc', '1.2.0-rc.1', null],
  ['runc', '1.1.5+ds1', 'runc: 1.1.5+ds1 is older than 1.1.12'],
  ['engine', '19.3', 'container engine: 19.3 is older than 20.10.0'],
  ['nvidiaToolkit', '1.17.7', 'NVIDIA container toolkit: 1.17.7 is older than 1.17.8'],
  ['nvidiaToolkit', '1.18.0', null],
  ['nvidiaToolkit', null, 'NVIDIA container toolkit: its version is not known; 1.17.8 or newer is needed'],
] as const)('[HOST-90] %s %s', ([component, version, problem], { expect }) => {
  expect(judgeVersion(component, version)).toBe(problem)
})
