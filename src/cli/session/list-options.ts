import { Option } from 'commander'
import { LIST_SORTS } from '../../contract/list-sorts.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'

/** Order of a list (PAG-21). */
export const SORT_OPTION = () => new Option('--sort <order>', 'order; by default the newest first').choices(LIST_SORTS)

/** Whether a name contains the text of `--name`, as the plane compares them: only A to Z in any case (PAG-20). */
export function hasName(name: string, text: string | undefined): boolean {
  return lower(name).includes(lower(text ?? ''))
}

function lower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The error for an answer of a plane that has ignored a filter. */
export function oldPlane(what: string, flags: string): CliError {
  return new CliError(EXIT.REFUSED, 'old_plane', `the plane is of a release that cannot filter ${what}`, {
    hint: `update the plane, or list without ${flags}`,
  })
}
