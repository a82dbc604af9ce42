// Agents check image references by the contract's grammar as well as the plane: their engine client puts them into paths.
export { IMAGE_FORM, isImageReference } from '../contract/image-reference.ts'
