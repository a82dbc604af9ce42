// An agent takes the images that the contract takes, and looks for itself: its engine client puts them into paths.
export { IMAGE_FORM, isImageReference } from '../contract/image-reference.ts'
