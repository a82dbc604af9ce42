import { Option } from 'commander'
import { LIST_SORTS } from '../../contract/list-sorts.ts'

/** Order of a list (PAG-21). */
export const SORT_OPTION = () => new Option('--sort <order>', 'order; by default the newest first').choices(LIST_SORTS)
