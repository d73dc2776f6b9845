import CVA
import TestOracles
import Testing

/// Tests tiles with uniform spacing and with given sizes.
@Suite struct HEVCTileTests {
    /// Makes slices of whole tiles, one per tile.
    private func perTile(_ stream: HEVCClient, _ buffers: inout HEVCClient.Buffers) {
        let whole = buffers.slices[0]
        let (columns, rows) = stream.tiles
        buffers.slices = (0..<rows).flatMap { row in
            (0..<columns).map { column in
                var slice = whole
                let (left, top) = (stream.columns * column / columns, stream.rows * row / rows)
                let width = stream.columns * (column + 1) / columns - left
                let height = stream.rows * (row + 1) / rows - top
                slice.slice_segment_address = UInt32(top * stream.columns + left)
                slice.num_ctu_in_slice = UInt32(width * height)
                return slice
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var columns: Int
        var rows: Int
        var tree: Int
        var isWide = false
        var perTile = false
        var filtersAcross = true

        var testDescription: String {
            "\(columns)x\(rows), \(1 << tree), \(isWide ? 10 : 8) bit\(perTile ? ", slices" : "")\(filtersAcross ? "" : ", no filter")"
        }
    }

    /// Each tile is independent, with its own contexts and predictions: both decoders decode the surfaces' pictures,
    /// and a slice has an entry point for each tile after its first.
    @Test(arguments: [
        Case(columns: 2, rows: 1, tree: 6), Case(columns: 1, rows: 2, tree: 6, isWide: true, perTile: true),
        Case(columns: 2, rows: 3, tree: 5, filtersAcross: false), Case(columns: 2, rows: 2, tree: 4, perTile: true),
        Case(columns: 2, rows: 2, tree: 6, isWide: true, perTile: true, filtersAcross: false),
    ])
    func uniformTilesDecode(_ each: Case) throws {
        let stream = HEVCClient(width: 536, height: 208, isWide: each.isWide)
        stream.log2Tree = each.tree
        stream.tiles = (each.columns, each.rows)
        let plans =
            HEVCClient.lowDelay(2)
            + HEVCClient.pyramid(1).dropFirst().map { plan in
                // The pyramid follows the second picture.
                var plan = plan
                plan.order += 1
                plan.lists = plan.lists.map { $0.map { $0 + 1 } }
                plan.kept = plan.kept.map { $0 + 1 }
                return plan
            }
        let run = try HEVCRun(stream, plans) { _, buffers in
            buffers.picture!.pic_fields.bits.loop_filter_across_tiles_enabled_flag = each.filtersAcross ? 1 : 0
            buffers.sequence?.seq_fields.bits.sample_adaptive_offset_enabled_flag = 1
            for index in buffers.slices.indices {
                buffers.slices[index].slice_fields.bits.slice_sao_luma_flag = 1
                buffers.slices[index].slice_fields.bits.slice_sao_chroma_flag = 1
            }
            if each.perTile { perTile(stream, &buffers) }
        }
        run.judge(each.testDescription)
        let trace = try TraceHeaders(stream: run.bytes, codec: "hevc")
        #expect(trace["tiles_enabled_flag"].allSatisfy { $0 == 1 })
        #expect(trace["num_tile_columns_minus1"].first == each.columns - 1)
        #expect(trace["num_tile_rows_minus1"].first == each.rows - 1)
        let slices = trace.units(named: "Slice Segment Header")
        #expect(slices.count == plans.count * (each.perTile ? each.columns * each.rows : 1))
        let entryPoints = each.perTile ? 0 : each.columns * each.rows - 1
        #expect(slices.allSatisfy { $0["num_entry_point_offsets"] == entryPoints })
    }

    /// The tiles have different sizes.
    @Test func tilesOfGivenSizesDecode() throws {
        let stream = HEVCClient(width: 648, height: 144)
        stream.tiles = (2, 2)
        let run = try HEVCRun(stream, HEVCClient.lowDelay(3)) { _, buffers in
            // The picture has 11 columns and 3 rows of coding trees.
            (buffers.picture!.column_width_minus1.0, buffers.picture!.column_width_minus1.1) = (6, 3)
            (buffers.picture!.row_height_minus1.0, buffers.picture!.row_height_minus1.1) = (1, 0)
        }
        run.judge()
        let trace = try TraceHeaders(stream: run.bytes, codec: "hevc")
        #expect(trace["uniform_spacing_flag"].first == 0)
        #expect(trace["column_width_minus1[0]"].first == 6 && trace["row_height_minus1[0]"].first == 1)
    }

    /// Main and Main 10 allow no tiles below 256×64 (A.3.2, A.3.3).
    @Test func smallTilesAreRefused() throws {
        func status(_ width: Int, _ tree: Int, _ tiles: (Int, Int), isWide: Bool = false) -> VAStatus {
            let stream = HEVCClient(HEVCClient.null, width: width, height: 200, isWide: isWide)
            stream.log2Tree = tree
            stream.tiles = tiles
            return stream.send(stream.buffers(HEVCClient.lowDelay(1)[0]))
        }
        let invalid = VA_STATUS_ERROR_INVALID_PARAMETER
        for tree in 4...6 {
            // Tile sizes are whole coding trees.
            #expect(status(512, tree, (2, 1)) == VA_STATUS_SUCCESS)
            #expect(status(512 - (1 << tree), tree, (2, 1)) == invalid)
            #expect(status(136, tree, (2, 1), isWide: true) == invalid)
            #expect(status(256, tree, (1, 3)) == VA_STATUS_SUCCESS)
            #expect(status(256, tree, (1, 4)) == (tree == 6 ? VA_STATUS_SUCCESS : invalid))
            #expect(status(768, tree, (3, 3), isWide: true) == VA_STATUS_SUCCESS)
        }
        #expect(status(248, 6, (1, 2)) == VA_STATUS_SUCCESS, "a column that is as wide as the picture, of four coding trees")
        #expect(status(192, 6, (1, 2)) == invalid)
    }

    /// The limits are MaxTileCols and MaxTileRows (Table A.8); level 8.5 has no limits.
    @Test func tilesAboveTheLevelAreRefused() {
        func status(_ level: UInt8, _ columns: Int, _ rows: Int) -> VAStatus {
            let stream = HEVCClient(HEVCClient.null, width: 256 * columns, height: 64 * rows)
            stream.tiles = (columns, rows)
            var buffers = stream.buffers(HEVCClient.lowDelay(1)[0])
            buffers.sequence?.general_level_idc = level
            return stream.send(buffers)
        }
        let most: [(levels: [UInt8], columns: Int, rows: Int)] = [
            ([30, 60, 63], 1, 1), ([90], 2, 2), ([93], 3, 3), ([120, 123], 5, 5), ([150, 153, 156], 10, 11),
        ]
        let invalid = VA_STATUS_ERROR_INVALID_PARAMETER
        for (levels, columns, rows) in most {
            for level in levels {
                #expect(status(level, columns, rows) == VA_STATUS_SUCCESS, "\(level)")
                #expect(status(level, columns + 1, 1) == invalid && status(level, 1, rows + 1) == invalid, "\(level)")
            }
        }
        for level: UInt8 in [180, 183, 186, 255] {
            #expect(status(level, 15, 22) == VA_STATUS_SUCCESS, "\(level)")
            #expect(status(level, 1, 23) == invalid, "\(level): as many as the buffer has room for")
        }
    }
}
