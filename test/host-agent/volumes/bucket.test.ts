import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { buildMountDrivers, sharedVolumesOf } from '../../../src/host-agent/mounts/build-drivers.ts'
import { GuardedViews } from '../../../src/host-agent/mounts/guarded-view.ts'
import { PersistentVolumes } from '../../../src/host-agent/mounts/persistent-volumes.ts'
import { parseBucket, rcloneEnv, remoteOf } from '../../../src/host-agent/volumes/bucket.ts'
import { BucketMount } from '../../../src/host-agent/volumes/bucket-mount.ts'
import { tempDir } from '../support/temp-dir.ts'

const BUCKET = parseBucket('s3://pods/volumes/eu?endpoint=https://s3.example.com&region=eu-1')
const MOUNT = { kind: 'global' as const, id: 'v', path: '/data' }

describe('[HOST-115] the bucket of global volumes', () => {
  test('is named by an address, with its part, its server and its region', () => {
    expect(BUCKET).toEqual({ bucket: 'pods', prefix: 'volumes/eu', endpoint: 'https://s3.example.com', region: 'eu-1' })
    expect(parseBucket('s3://pods')).toEqual({ bucket: 'pods', prefix: '', endpoint: undefined, region: undefined })
    expect([remoteOf(BUCKET), remoteOf(BUCKET, 'v'), remoteOf(parseBucket('s3://pods'), 'v')]).toEqual([
      'store:pods/volumes/eu',
      'store:pods/volumes/eu/v',
      'store:pods/v',
    ])
  })

  test.each([
    's3://',
    's3://Pods',
    's3://pods/a,b',
    's3://pods?endpoint=ftp://x',
    's3://pods?endpoint=https://x/y?z',
    's3://pods?secret=x',
    's3://pods:9000',
  ])('%s is refused, with what to write', (text) => {
    expect(() => parseBucket(text)).toThrow('write s3://<bucket>/<prefix>?endpoint=<https://…>&region=<name>')
  })

  test('refuses a login, without repeating it', () => {
    expect(() => parseBucket('s3://key:secret@pods')).toThrow(/^(?!.*secret@).*give AWS_ACCESS_KEY_ID/)
  })

  test('is reached with the credentials of the environment, and with no file', () => {
    const env = rcloneEnv(BUCKET)
    expect(env).toMatchObject({ RCLONE_CONFIG: '/dev/null', RCLONE_CONFIG_STORE_ENV_AUTH: 'true', RCLONE_CONFIG_STORE_REGION: 'eu-1' })
    expect(Object.keys(env).filter((name) => /KEY|SECRET/.test(name))).toEqual([])
  })

  describe('[GLV-9] with credentials that systemd hands over', () => {
    const LOGIN = { AWS_ACCESS_KEY_ID: 'key-1', AWS_SECRET_ACCESS_KEY: 'canary/secret+==' }
    const handOver = (text: string) => {
      const directory = tempDir('credentials')
      writeFileSync(join(directory, 'global-volumes'), text)
      vi.stubEnv('CREDENTIALS_DIRECTORY', directory)
    }
    afterEach(() => vi.unstubAllEnvs())

    test('gives them to rclone alone, over those of the environment', () => {
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'of the environment')
      handOver(`# of the bucket\nAWS_ACCESS_KEY_ID=${LOGIN.AWS_ACCESS_KEY_ID}\n\nAWS_SECRET_ACCESS_KEY=${LOGIN.AWS_SECRET_ACCESS_KEY}\n`)
      expect(rcloneEnv(BUCKET)).toMatchObject({ ...LOGIN, RCLONE_CONFIG_STORE_ENV_AUTH: 'true' })
      expect(Object.values(process.env)).not.toContain(LOGIN.AWS_SECRET_ACCESS_KEY)
    })

    test('ignores other variables of that service', () => {
      vi.stubEnv('CREDENTIALS_DIRECTORY', tempDir('credentials'))
      expect(Object.keys(rcloneEnv(BUCKET)).filter((name) => /ACCESS_KEY|TOKEN/.test(name))).toEqual([])
    })

    test.each(['canary', 'AWS_SECRET_ACCESS_KEY=canary with spaces', 'LD_PRELOAD=canary', 'AWS_SECRET_ACCESS_KEY='])(
      'refuses %j, without repeating it',
      (line) => {
        handOver(`AWS_ACCESS_KEY_ID=key-1\n${line}\n`)
        expect(() => new BucketMount(BUCKET, tempDir('state'), silentLog())).toThrow('line 2')
        expect(() => rcloneEnv(BUCKET)).toThrow(/^line 2 of the credential 'global-volumes' is not valid; write (?!.*canary)/)
      },
    )
  })

  test('is offered where the machine can mount one, and otherwise the start has the reason', async () => {
    const options = { networkVolumes: undefined, globalVolumes: BUCKET }
    expect([sharedVolumesOf(options), sharedVolumesOf(options, true)]).toEqual([[], ['global']])
    const held = { owner: null, views: new GuardedViews('off') }
    const persistent = new PersistentVolumes(tempDir('volumes'), silentLog(), held)
    const none = buildMountDrivers(options, persistent, held)
    await expect(none.global.provide(MOUNT)).rejects.toThrow('this host cannot mount an object store')
    const bucket = new BucketMount(BUCKET, tempDir('state'), silentLog())
    const waiting = buildMountDrivers(options, persistent, { ...held, bucket })
    await expect(waiting.global.provide(MOUNT)).rejects.toThrow(
      'the object store of global volumes cannot be used on this host: it is not mounted yet',
    )
  })
})
