/**
 * Where a project is: the nearest folder, from the working directory up, that holds `config/tieout.yaml`, so that a scheduler
 * which starts somewhere else below it finds the same books. Outside a project the data are in the platform's own place.
 */
import { existsSync, lstatSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join, relative, resolve } from "node:path"
import { Option } from "effect"
import { isMissing } from "../Common/Files/RegularFile.ts"
import { type Variables, variable } from "./Environment.ts"

const settingsFile = join("config", "tieout.yaml")

/** The files by which a folder `data` shows that it holds a database. Before there were projects one was made in any working directory. */
const databases = [join("data", "postgres"), join("data", "postgres.location")]

/** The user that owns the file; undefined where it is this process's user, or root. */
export const ownerOf = (file: string): number | undefined => {
  const { uid } = statSync(file)
  return process.getuid === undefined || uid === process.getuid() || uid === 0 ? undefined : uid
}

/** Settings say where credentials are sent: a file above the working directory must belong to this process's user, or to root. */
const isTrusted = (file: string): boolean => ownerOf(file) === undefined

/** Whether there is such a file, or this user may not find out. */
const mayBeThere = (path: string): boolean => {
  try {
    statSync(path)
    return true
  } catch (cause) {
    return !isMissing(cause)
  }
}

/** A link whose end is missing, such as a volume that is not mounted: somebody has put something there. */
const leadsNowhere = (path: string): boolean => {
  try {
    return lstatSync(path).isSymbolicLink() && !mayBeThere(path)
  } catch {
    return false
  }
}

/** The file, or its folder, where it is a link to nothing. */
export const brokenLinkTo = (file: string): string | undefined => [file, dirname(file)].find(leadsNowhere)

/**
 * Settings of the working directory that this user may not find out about make it a project, too: reading them then says so. Without
 * that the books of another user's project would begin anew, in a place of this one's.
 */
const hasProject = (folder: string, isHere: boolean): boolean =>
  (isHere &&
    (mayBeThere(join(folder, settingsFile)) || brokenLinkTo(join(folder, settingsFile)) !== undefined)) ||
  [settingsFile, ...databases].some((name) => {
    const path = join(folder, name)
    return existsSync(path) && (isHere || isTrusted(path))
  })

/** The project's folder, from a folder up; none where there is no project. */
export const projectAbove = (from: string, at = from): Option.Option<string> => {
  if (hasProject(at, at === from)) return Option.some(at)
  return dirname(at) === at ? Option.none() : projectAbove(from, dirname(at))
}

/** The project of a named settings file, `PROJECT/config/tieout.yaml`; else that of the working directory. */
const projectOf = (named: Option.Option<string>): Option.Option<string> =>
  Option.match(named, {
    onNone: () => projectAbove(process.cwd()),
    onSome: (file) => {
      const folder = dirname(resolve(file))
      return basename(folder) === "config" && basename(file) === "tieout.yaml"
        ? Option.some(dirname(folder))
        : projectAbove(process.cwd())
    },
  })

/** The shortest path from the working directory. */
const shown = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short.startsWith("..") || short === "" ? path : short
}

/** Where programs of a user keep data: by the XDG specification, or what macOS and Windows have instead. */
const platformData = (variables: Variables): string => {
  const home = Option.getOrElse(variable(variables, "HOME"), homedir)
  const [name, otherwise] =
    process.platform === "win32"
      ? ["LOCALAPPDATA", join(home, "AppData", "Local")]
      : process.platform === "darwin"
        ? [undefined, join(home, "Library", "Application Support")]
        : ["XDG_DATA_HOME", join(home, ".local", "share")]
  const set = name === undefined ? Option.none() : variable(variables, name)
  return join(
    Option.getOrElse(set, () => otherwise),
    "tieout",
  )
}

export interface Placed {
  /** The settings file, which is read if it exists. */
  readonly file: string
  /** Where an embedded database keeps its data. */
  readonly dataDir: string
}

/** `named`: the settings file that was asked for. */
export const placesOf = (named: Option.Option<string>, variables: Variables): Placed => {
  const project = projectOf(named)
  const settings = Option.match(project, {
    onNone: () => settingsFile,
    onSome: (at) => shown(join(at, settingsFile)),
  })
  const data = Option.match(project, {
    onNone: () => platformData(variables),
    onSome: (at) => shown(join(at, "data")),
  })
  return {
    file: Option.getOrElse(named, () => settings),
    dataDir: Option.getOrElse(variable(variables, "TIEOUT_DATA_DIR"), () => data),
  }
}
