import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'
import { CACHE, hashOf, run } from '../machines/debian.ts'
import { docker, hasImage } from '../machines/docker.ts'
import { debianImage, PYTHON_VERSION } from './worker-image.ts'

const EXAMPLES = join(PROJECT_ROOT, 'examples')
/** In front of the packages of the base, so that the example's versions are found first. */
const PACKAGES = '/opt/example'
/** The wheels of the examples are for this and any newer glibc. */
const PLATFORMS = ['manylinux_2_28_x86_64', 'manylinux_2_27_x86_64', 'manylinux_2_17_x86_64', 'manylinux2014_x86_64']

/**
 * The image that the Dockerfile of an example describes, without any registry: the tests' own Debian with the public worker SDK, the
 * packages of its `requirements.txt` pinned by their hashes, and its program.
 */
export async function exampleImage(example: string, program: string): Promise<string> {
  const base = await debianImage()
  const directory = join(EXAMPLES, example)
  const requirements = readFileSync(join(directory, 'requirements.txt'), 'utf8')
  const text = readFileSync(join(directory, program), 'utf8')
  const tag = `podplane-e2e/example-${example}:${hashOf([base, requirements, text].join('\n'))}`
  if (await hasImage(tag)) return tag
  const packages = await installed(example, requirements)
  const container = await docker('create', base)
  try {
    await docker('cp', packages, `${container}:${PACKAGES}`)
    await docker('cp', join(directory, program), `${container}:/${program}`)
    await docker('commit', '--change', `ENV PYTHONPATH=${PACKAGES}`, container, tag)
  } finally {
    await docker('rm', '--force', container)
  }
  return tag
}

/** The declaration of one resource in the example's `podplane.toml`, with an image instead of `${IMAGE}`. */
export function declaredBy(example: string, kind: 'endpoints' | 'pods', name: string, image: string): Record<string, unknown> {
  const tables = parse(readFileSync(join(EXAMPLES, example, 'podplane.toml'), 'utf8').replaceAll('${IMAGE}', image))
  const members = (tables[kind] as Record<string, Record<string, unknown>>)[name]
  if (members === undefined) throw new Error(`examples/${example}/podplane.toml declares no ${kind}.${name}`)
  return { name, ...members }
}

/** The packages as files, built once and cached. */
async function installed(example: string, requirements: string): Promise<string> {
  const root = join(CACHE, `example-${example}-${hashOf(requirements)}`)
  if (existsSync(root)) return root
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  try {
    cpSync(join(EXAMPLES, example, 'requirements.txt'), join(draft, 'requirements.txt'))
    const held = ['--no-deps', '--require-hashes', '--only-binary=:all:', '--python-version', PYTHON_VERSION]
    const platforms = PLATFORMS.flatMap((platform) => ['--platform', platform])
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-compile']
    const what = ['--target', join(draft, 'site'), '--requirement', join(draft, 'requirements.txt')]
    await run('python3', '-m', 'pip', 'install', ...quiet, ...held, ...platforms, ...what)
    renameSync(join(draft, 'site'), root)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return root
}
