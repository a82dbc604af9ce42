import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the meter of an archive counts only the bytes of its entries',
    file: 'src/host-agent/pulls/layers/tar-meter.ts',
    find: 'this.counted += Math.max(0, least',
    replace: 'this.counted += Math.min(0, least',
  },
  {
    id: 'later frames of a layer are not measured',
    file: 'src/host-agent/pulls/layers/unpack.ts',
    find: 'isZstd(head) ? zstdFrames(all) : all',
    replace: 'all',
  },
  {
    id: "H8: the size in an archive's header is believed",
    file: 'src/host-agent/pulls/layers/tar-meter.ts',
    find: '    return this.counted\n',
    replace: '    return data.length\n',
  },
]
