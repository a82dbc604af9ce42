import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a private image is available to every account once it is stored',
    file: 'src/host-agent/docker/container/container-image.ts',
    find: 'publicText: isPublic ? reference.text : undefined',
    replace: "publicText: isPublic || reference.text !== '' ? reference.text : undefined",
  },
  {
    id: 'H3: a login is sent to any registry',
    file: 'src/host-agent/pulls/registry-client.ts',
    find: 'login.host !== reference.host',
    replace: "login.host === ''",
  },
  {
    id: 'H4: a stored layer is available to every account',
    file: 'src/host-agent/pulls/pull-image.ts',
    find: '(index) => index >= known || !layers.isProven(index)',
    replace: '(index) => index >= known',
  },
  {
    id: 'M11: an image that was not pulled runs',
    file: 'src/host-agent/docker/container/container-image.ts',
    find: 'if (this.deps.images.localImages) {',
    replace: "if ('localImages' in this.deps.images) {",
  },
  {
    id: 'S19: one account may store every image of a machine',
    file: 'src/host-agent/pulls/space/image-shares.ts',
    find: 'this.deps.isShared() ? fairCount(IMAGES_MAX, RETAINED_IMAGES, others.size) : IMAGES_MAX',
    replace: 'IMAGES_MAX',
  },
]
