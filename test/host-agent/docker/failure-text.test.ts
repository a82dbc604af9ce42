import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { failureText, startRefused, UNKNOWN_FAILURE } from '../../../src/host-agent/docker/engine/failure-text.ts'
import { EngineClientEnded } from '../../../src/host-agent/engine/engine-errors.ts'

const RUNC =
  'failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: '
const MOUNTS = [{ kind: 'persistent' as const, id: 'v', path: '/etc/passwd', sizeGb: 1 }]

/** Texts of engines, and the texts of the agent for them. */
const CASES: readonly (readonly [string, string])[] = [
  [
    `${RUNC}error during container init: error mounting "/run/podplane/7e11aa/p1" to rootfs at "/etc/passwd": mount src=/run/podplane/7e11aa/p1, dst=/etc/passwd, dstFd=/proc/thread-self/fd/8: not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)?`,
    'nothing can be mounted at "/etc/passwd" in this image; choose another mount path',
  ],
  ['Duplicate mount point: /etc/passwd', 'nothing can be mounted at "/etc/passwd" in this image; choose another mount path'],
  [`${RUNC}exec: "pyhton": executable file not found in $PATH: unknown`, 'the command "pyhton" is not in the image'],
  [`${RUNC}exec: "/app/run.sh": stat /app/run.sh: no such file or directory: unknown`, 'the command "/app/run.sh" is not in the image'],
  ['exec /app/run.sh: no such file or directory', 'the command "/app/run.sh" is not in the image'],
  [`${RUNC}exec: "/app/run.sh": permission denied: unknown`, 'the command "/app/run.sh" may not be executed in the image'],
  [`${RUNC}exec /app: exec format error`, 'its command is not a program for this machine; is the image for linux/amd64?'],
  ['No command specified', 'the image has no command; set one'],
  ['unable to find user ada: no matching entries in passwd file', 'the user "ada" is not in the image'],
  [`${RUNC}chdir to cwd ("/srv") set in config.json failed: permission denied`, 'the working directory "/srv" of the image cannot be used'],
  [
    'driver failed programming external connectivity: Bind for 10.1.2.3:30001 failed: port is already allocated',
    'a port that it needs is already taken on this host',
  ],
  ['write /var/lib/docker/overlay2/ab12/diff/x: no space left on device', 'no space is left on the disk of this host'],
  [`${RUNC}cannot allocate memory`, 'there is not enough memory to start it'],
  [
    `${RUNC}error running hook #0: nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver`,
    'the image needs "cuda>=12.8", but the GPU driver of this host has another version',
  ],
  [
    'could not select device driver "" with capabilities: [[gpu]]',
    'the GPUs of this host cannot be given to a container; start it on another host',
  ],
  [
    'error gathering device information while adding custom device "/dev/fuse": no such file or directory',
    'a device that it needs is not available on this host',
  ],
  [
    'error while mounting volume: failed to mount local volume: mount :/export/pods/v:/var/lib/docker/volumes/x/_data, data: addr=10.9.8.7: no such file or directory',
    'a volume cannot be mounted: its server is unavailable or has no directory for it',
  ],
  ['stat /run/podplane/7e11aa/p1: no such file or directory', 'the command that is asked for is not in the image'],
  ['connect ENOENT /var/run/docker.sock', 'the container engine of this host was interrupted; start it again'],
  ['something new at /var/lib/docker/secret on 10.0.0.1', UNKNOWN_FAILURE],
]

describe('messages of a container engine', () => {
  test.for(CASES)('[S17] [EDG-5] %s', ([said, received], { expect }) => {
    const asked = /mount/i.test(said) && !said.includes('volume') ? { mounts: MOUNTS } : {}
    expect(failureText(new Error(said), asked)).toBe(received)
    expect(failureText(new Error(said), asked)).not.toMatch(/\/run\/|\/var\/|\/proc\/|\d+\.\d+\.\d+/)
  })

  test('[S17] [EDG-5] quotes of a request are short and printable; the full text is only in the log', ({ expect }) => {
    const said = `exec: "\u001b[31m${'x'.repeat(500)}": executable file not found in $PATH`
    const refused = startRefused(new Error(said), {})
    expect(refused.message).toMatch(/^the container could not be started: the command " \[31mx{115}" is not in the image$/)
    expect(refused.detail).toBe(said)
    expect(failureText(new EngineClientEnded())).toBe('the container engine of this host was interrupted; start it again')
  })

  test('[S17] [EDG-5] no refusal of the agent has a message of the system or the engine', ({ expect }) => {
    const folder = join(import.meta.dirname, '../../../src/host-agent')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const said = files.flatMap((file) => {
      const refusals = readFileSync(join(folder, file), 'utf8').matchAll(/new (?:StartError|ExecRefused)\(\s*(`[^`]*`|'[^']*'|[^,)]*)/g)
      return [...refusals].map(([, message = '']) => `${file}: ${message}`)
    })
    expect(said.length).toBeGreaterThan(20)
    expect(said.filter((refusal) => /errorText|engineText|\.message|stderr|String\(error/.test(refusal))).toEqual([])
  })
})
