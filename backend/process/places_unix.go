//go:build unix

package process

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxSettings bounds what is read of another program's settings file.
const maxSettings = 64 << 10

// places are the directories into which agents and their interpreters are
// installed, whether they exist or not, best first.
func (f *finder) places() []string {
	at := func(parts ...string) string { return filepath.Join(append([]string{f.home}, parts...)...) }
	or := func(name, otherwise string) string {
		if dir := f.getenv(name); filepath.IsAbs(dir) {
			return dir
		}
		return otherwise
	}
	fnm, pnpm := at(".local", "share", "fnm"), at(".local", "share", "pnpm")
	if runtime.GOOS == "darwin" {
		fnm, pnpm = at("Library", "Application Support", "fnm"), at("Library", "pnpm")
	}
	fnm, pnpm = or("FNM_DIR", fnm), or("PNPM_HOME", pnpm)
	places := []string{
		at(".local", "bin"), at("bin"), at(".npm-global", "bin"),
	}
	if prefix := f.npmPrefix(); prefix != "" {
		places = append(places, filepath.Join(prefix, "bin"))
	}
	places = append(places,
		at(".claude", "local"), at(".opencode", "bin"),
		filepath.Join(or("VOLTA_HOME", at(".volta")), "bin"),
		filepath.Join(or("MISE_DATA_DIR", at(".local", "share", "mise")), "shims"),
		filepath.Join(or("ASDF_DATA_DIR", at(".asdf")), "shims"),
		filepath.Join(fnm, "aliases", "default", "bin"),
	)
	places = append(places, newestFirst(filepath.Join(or("NVM_DIR", at(".nvm")), "versions", "node"), "bin")...)
	places = append(places, newestFirst(filepath.Join(fnm, "node-versions"), filepath.Join("installation", "bin"))...)
	return append(places,
		pnpm, filepath.Join(pnpm, "bin"),
		at(".yarn", "bin"), at(".config", "yarn", "global", "node_modules", ".bin"),
		filepath.Join(or("BUN_INSTALL", at(".bun")), "bin"),
		filepath.Join(or("DENO_INSTALL", at(".deno")), "bin"),
		filepath.Join(or("CARGO_HOME", at(".cargo")), "bin"),
		filepath.Join(or("GOPATH", at("go")), "bin"),
		at(".nix-profile", "bin"),
		"/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/bin", "/bin", "/snap/bin",
	)
}

// npmPrefix is where the user's npm installs global packages, if that was
// configured: the environment, else ~/.npmrc (docs.npmjs.com, npmrc).
func (f *finder) npmPrefix() string {
	for _, name := range []string{"NPM_CONFIG_PREFIX", "npm_config_prefix"} {
		if dir := f.getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	file, err := os.Open(filepath.Join(f.home, ".npmrc"))
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxSettings))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), "=")
		if !ok || strings.TrimSpace(name) != "prefix" {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		for _, home := range []string{"~", "${HOME}", "$HOME"} {
			if rest, ok := strings.CutPrefix(value, home+"/"); ok {
				value = filepath.Join(f.home, rest)
			}
		}
		if filepath.IsAbs(value) {
			return value
		}
	}
	return ""
}

// newestFirst are the directories below dir/<version>, the newest first.
func newestFirst(dir, below string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return cmp.Or(slices.Compare(versionNumbers(b.Name()), versionNumbers(a.Name())), cmp.Compare(a.Name(), b.Name()))
	})
	var dirs []string
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(dir, e.Name(), below))
	}
	return dirs
}

// versionNumbers of "v22.1.0" are 22, 1, 0.
func versionNumbers(name string) []int {
	var numbers []int
	for part := range strings.SplitSeq(strings.TrimPrefix(name, "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func mayExecute(path string) bool { return unix.Access(path, unix.X_OK) == nil }
