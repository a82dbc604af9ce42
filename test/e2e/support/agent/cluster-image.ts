import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'
import { debianTree, hashOf, MIRROR, run, SUITE } from '../machines/debian.ts'
import { hasImage, importDirectory, requireDocker } from '../machines/docker.ts'
import { NOT_NEEDED, PYTHON_VERSION, SITE } from './worker-image.ts'

const EXAMPLES = join(PROJECT_ROOT, 'examples')
const PACKAGES = 'python3,ca-certificates,iproute2,busybox,wget,munge,slurmctld,slurmd,slurm-client'
/** The same versions as in the Dockerfiles of the examples. */
const PYTHON_PACKAGES = ['jax==0.10.2', 'jaxlib==0.10.2', 'ray==2.60.0']
const RECIPE = [SUITE, MIRROR, PACKAGES, ...PYTHON_PACKAGES, 'layout 3'].join('\n')
const RAY = '#!/bin/sh\nexec python3 -m ray.scripts.scripts "$@"\n'
const FILES = {
  'cluster-application/serve.sh': 'serve.sh',
  'cluster-training/train.py': 'train.py',
  'cluster-slurm/start.sh': 'start.sh',
  'cluster-ray/task.py': 'task.py',
}

/** One image for the examples of all types of clusters, from Debian's packages and the Python index: three machines load it once each. */
export async function clusterImage(): Promise<string> {
  await requireDocker()
  const texts = Object.keys(FILES).map((file) => readFileSync(join(EXAMPLES, file), 'utf8'))
  const tag = `podplane-e2e/cluster:${hashOf([RECIPE, ...texts].join('\n'))}`
  if (await hasImage(tag)) return tag
  const root = await clusterRoot()
  for (const [file, name] of Object.entries(FILES)) cpSync(join(EXAMPLES, file), join(root, name))
  await importDirectory(root, tag, 'CMD ["/bin/sh"]')
  return tag
}

/** The file tree without the examples, built once and cached. */
async function clusterRoot(): Promise<string> {
  return await debianTree(`cluster-${hashOf(RECIPE)}`, PACKAGES, async (draft) => {
    const target = ['--target', join(draft, SITE), '--python-version', PYTHON_VERSION, '--only-binary=:all:', '--no-compile']
    await run('python3', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...target, ...PYTHON_PACKAGES)
    // The script that pip writes for a command would name this machine's interpreter.
    writeFileSync(join(draft, 'usr/local/bin/ray'), RAY, { mode: 0o755 })
    for (const path of NOT_NEEDED) rmSync(join(draft, path), { recursive: true, force: true })
    // Every cluster has a key of its own.
    for (const name of readdirSync(join(draft, 'etc/munge'))) rmSync(join(draft, 'etc/munge', name))
  })
}
