/// The languages of QuickTime files, which use Macintosh codes. libavformat knows each of these languages by one ISO
/// 639-2 name.
enum MacintoshLanguage {
    private static let known: Set<String> = Set(
        """
        eng fra ger ita dut sve spa dan por nor heb jpn ara fin gre ice mlt tur chi urd hin tha kor lit pol hun est lav rus per \
        iri alb ron ces slk slv yid mac bul ukr bel uzb kaz aze arm geo mol kir tgk tuk mon pus kur kas snd tib nep san mar ben asm \
        guj ori mal kan tam tel sin bur khm lao vie ind tgl may amh tir orm som swa kin run nya mlg epo wel baq cat lat que grn aym \
        tat uig dzo jav
        """.split(separator: " ").map(String.init))

    /// Other ISO 639-2 names of the same languages, bibliographic or terminological.
    private static let others = [
        "deu": "ger", "nld": "dut", "ell": "gre", "isl": "ice", "zho": "chi", "fas": "per", "sqi": "alb", "mkd": "mac", "hye": "arm",
        "kat": "geo", "bod": "tib", "mya": "bur", "msa": "may", "cym": "wel", "eus": "baq", "fre": "fra", "rum": "ron", "cze": "ces",
        "slo": "slk", "swe": "sve",
    ]

    /// Returns libavformat's name of a language; nil if QuickTime files have no code for it.
    static func name(_ language: String) -> String? {
        let name = others[language] ?? language
        return known.contains(name) ? name : nil
    }
}
